"""Holds the JSON Schema that `dtypemut schema` prints against the reader.

  ir_schema_test.py DTYPEMUT TESTDATA IR_README

Whatever the tool takes, the schema takes, and each rule that the schema states is one of the tool's. The documentation
of the IR, if it exists, names every key and word in backquotes, and its documents are valid.
"""

import copy
import json
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema

DTYPEMUT, TESTDATA = sys.argv[1:3]
IR_README = pathlib.Path(sys.argv[3])

# Every key and form of the IR.
BASE = {
    "version": 1,
    "name": "base",
    "unknown": None,
    "tensors": [
        {"name": "x", "dtype": "float32", "shape": [2, 3], "space": "dram", "kind": "input"},
        {"name": "y", "dtype": "float32", "shape": [2, 3], "kind": "output"},
        {"name": "t", "dtype": "float32", "shape": [2, 3], "space": "sbuf", "kind": "internal"},
        {"name": "splat", "dtype": "float32", "shape": [], "kind": "const", "data": {"splat": "-inf"}},
        {"name": "values", "dtype": "float32", "shape": [2], "kind": "const", "data": {"values": [0.5, "nan"]}},
        {"name": "base64", "dtype": "float32", "shape": [], "kind": "const", "data": {"base64": "AACAPw=="}},
        {"name": "file", "dtype": "uint8", "shape": [0], "kind": "const",
         "data": {"file": __file__, "offset": 0}},
    ],
    "instructions": [
        {"name": "load", "op": "SBAtomLoad", "dtype": "float32", "operands": [{"tensor": "x"}],
         "dst": {"tensor": "t"}, "partition_broadcast": True},
        {"name": "act", "op": "TensorScalarGEPOp", "dtype": "int32", "reinterpret": False, "can_mutate_dst_ty": True,
         "operands": [{"inst": "load"}, {"imm": [1], "dtype": "free"},
                      {"tensor": "t", "reinterpret": True, "dtype": "int32"}],
         "allowed_dtypes": ["int32"], "dst": None},
        {"name": "store", "op": "SBAtomStore", "dtype": "float32", "operands": [{"tensor": "t"}],
         "dst": {"tensor": "y", "reinterpret": True, "dtype": "float32"}},
        {"name": "mine", "op": "MyOp"},
    ],
}

X, Y, T, SPLAT, VALUES, BASE64, FILE = ("tensors", 0), ("tensors", 1), ("tensors", 2), ("tensors", 3), ("tensors", 4), (
    "tensors", 5), ("tensors", 6)
LOAD, ACT, STORE, MINE = (("instructions", i) for i in range(4))
ABSENT = object()

# Single changes to BASE: a path, the value to put there.
TAKEN = [
    (("version",), ABSENT),
    (("name",), ABSENT),
    (("name",), ""),
    ((*X, "space"), ABSENT),
    ((*X, "note"), {"any": ["thing"]}),
    ((*T, "space"), "psum"),
    ((*T, "kind"), ABSENT),
    ((*SPLAT, "data"), {"splat": -1e-7, "tensor": 5, "offset": "beside no form that reads them"}),
    ((*SPLAT, "dtype"), "float8_e4m3fn_x4"),
    ((*BASE64, "data", "base64"), "AAAAAA=="),
    ((*FILE, "data", "offset"), ABSENT),
    ((*ACT, "operands"), []),
    ((*ACT, "operands"), ABSENT),
    ((*ACT, "operands", 1), {"imm": None, "reinterpret": 7}),
    ((*ACT, "operands", 2), {"tensor": "t", "reinterpret": False}),
    ((*ACT, "allowed_dtypes"), []),
    ((*ACT, "dst"), ABSENT),
    ((*STORE, "operands"), [{"inst": "load"}]),
    ((*MINE, "op"), ""),
    ((*MINE, "dst"), None),
]
REFUSED = [
    ((), []),
    (("version",), 2),
    (("version",), "1"),
    (("name",), 5),
    (("tensors",), ABSENT),
    (("tensors",), {}),
    (("instructions",), ABSENT),
    (("instructions",), None),
    ((*X,), "x"),
    ((*X, "name"), ABSENT),
    ((*X, "name"), ""),
    ((*X, "name"), None),
    ((*X, "dtype"), ABSENT),
    ((*X, "dtype"), "bf16"),
    ((*X, "dtype"), None),
    ((*X, "shape"), ABSENT),
    ((*X, "shape"), 6),
    ((*X, "shape", 0), -1),
    ((*X, "shape", 0), 1.5),
    ((*X, "shape", 0), "2"),
    ((*X, "space"), "sbuf"),
    ((*X, "space"), "hbm"),
    ((*Y, "space"), "psum"),
    ((*SPLAT, "space"), "sbuf"),
    ((*X, "kind"), "in"),
    ((*X, "kind"), None),
    ((*X, "data"), {"splat": 0}),
    ((*T, "data"), {"splat": 0}),
    ((*SPLAT, "data"), ABSENT),
    ((*SPLAT, "data"), 0),
    ((*SPLAT, "data"), {}),
    ((*SPLAT, "data"), {"splats": 0}),
    ((*SPLAT, "data"), {"splat": 0, "base64": "AACAPw=="}),
    ((*SPLAT, "data"), {"splat": 0, "base64": 5}),
    ((*SPLAT, "data", "splat"), "NaN"),
    ((*SPLAT, "data", "splat"), None),
    ((*SPLAT, "data", "splat"), [0]),
    ((*SPLAT, "dtype"), "int32"),
    ((*VALUES, "data", "values"), "0, 1"),
    ((*VALUES, "data", "values", 1), True),
    ((*VALUES, "data", "values", 1), "1"),
    ((*VALUES, "dtype"), "uint16"),
    ((*VALUES, "dtype"), "float8_e5m2_x4"),
    ((*BASE64, "data", "base64"), 5),
    ((*BASE64, "data", "base64"), "AACAPw"),
    ((*BASE64, "data", "base64"), "AACAPx=="),
    ((*BASE64, "data", "base64"), "AACA Pw=="),
    ((*BASE64, "data", "base64"), "AACAP_=="),
    ((*FILE, "data", "file"), ""),
    ((*FILE, "data", "file"), "w\0"),
    ((*FILE, "data", "file"), None),
    ((*FILE, "data", "offset"), -1),
    ((*FILE, "data", "offset"), "0"),
    ((*FILE, "data"), {"safetensors": __file__}),
    ((*FILE, "data"), {"safetensors": __file__, "tensor": 5}),
    ((*FILE, "data"), {"safetensors": 5, "tensor": "w"}),
    ((*MINE,), None),
    ((*MINE, "name"), ABSENT),
    ((*MINE, "name"), ""),
    ((*MINE, "op"), ABSENT),
    ((*MINE, "op"), 5),
    ((*MINE, "dtype"), "half"),
    ((*MINE, "dtype"), None),
    ((*MINE, "dst"), {"tensor": "t"}),
    ((*MINE, "operands"), {}),
    ((*MINE, "operands"), None),
    ((*MINE, "reinterpret"), "false"),
    ((*MINE, "reinterpret"), None),
    ((*MINE, "partition_broadcast"), 1),
    ((*MINE, "can_mutate_dst_ty"), None),
    ((*MINE, "allowed_dtypes"), "int32"),
    ((*MINE, "allowed_dtypes"), ["int"]),
    ((*LOAD, "operands"), ABSENT),
    ((*LOAD, "operands"), []),
    ((*LOAD, "operands"), [{"tensor": "x"}, {"imm": 1}]),
    ((*LOAD, "operands"), [{"imm": 1}]),
    ((*STORE, "operands"), [{"imm": 1}]),
    ((*STORE, "operands"), [{"tensor": "t"}, {"tensor": "t"}]),
    ((*STORE, "dst"), ABSENT),
    ((*STORE, "dst"), None),
    ((*STORE, "dst"), "y"),
    ((*STORE, "dst"), {"reinterpret": False}),
    ((*STORE, "dst"), {"tensor": None}),
    ((*STORE, "dst"), {"tensor": "y", "dtype": "float32"}),
    ((*STORE, "dst"), {"tensor": "y", "reinterpret": True}),
    ((*STORE, "dst"), {"tensor": "y", "reinterpret": 1, "dtype": "float32"}),
    ((*ACT, "operands", 0), "load"),
    ((*ACT, "operands", 0), {}),
    ((*ACT, "operands", 0), {"inst": 5}),
    ((*ACT, "operands", 0), {"inst": "load", "imm": 1}),
    ((*ACT, "operands", 0), {"inst": "load", "tensor": 5}),
    ((*ACT, "operands", 0), {"inst": "load", "dtype": "float32"}),
    ((*ACT, "operands", 0), {"inst": "load", "reinterpret": False}),
    ((*ACT, "operands", 2), {"tensor": 5}),
    ((*ACT, "operands", 2), {"tensor": "t", "dtype": "int32"}),
    ((*ACT, "operands", 2), {"tensor": "t", "reinterpret": True}),
    ((*ACT, "operands", 2), {"tensor": "t", "reinterpret": True, "dtype": "i32"}),
]


def changed(path, value):
    if not path:
        return value
    document = copy.deepcopy(BASE)
    *parents, key = path
    place = document
    for step in parents:
        place = place[step]
    if value is ABSENT:
        del place[key]
    else:
        place[key] = value
    return document


def run(*arguments, **options):
    return subprocess.run([DTYPEMUT, *arguments], capture_output=True, text=True, check=False, **options)


def tool_takes(document):
    return run("verify", "-", input=json.dumps(document)).returncode == 0


def integer_documents():
    """Documents whose only element is on either side of what an integer dtype holds."""
    for bits in (8, 16, 32, 64):
        for dtype, least, most in ((f"uint{bits}", 0, 2**bits - 1), (f"int{bits}", -(2**(bits - 1)), 2**(bits - 1) - 1)):
            for value in (least - 1, least, most, most + 1):
                for data in ({"splat": value}, {"values": [value]}):
                    tensor = {"name": "t", "dtype": dtype, "shape": [1], "kind": "const", "data": data}
                    yield {"tensors": [tensor], "instructions": []}


def property_names(schema):
    """All keys that the schema describes, wherever they stand."""
    if isinstance(schema, list):
        return set().union(*map(property_names, schema))
    if not isinstance(schema, dict):
        return set()
    names = set(schema.get("properties", {}))
    return names.union(*map(property_names, schema.values()))


class SchemaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(run("schema").stdout)
        cls.validator = jsonschema.Draft202012Validator(cls.schema)

    def test_is_a_schema(self):
        self.assertEqual(self.schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_describes_every_key(self):
        objects = [self.schema] + [self.schema["$defs"][name] for name in ("tensor", "data", "instruction", "operand", "view")]
        for properties in (each["properties"] for each in objects):
            for key, schema in properties.items():
                self.assertTrue("description" in schema or "$ref" in schema, key)

    def test_takes_what_the_tool_takes(self):
        self.assertTrue(tool_takes(BASE))
        for path, value in [(("name",), "base"), *TAKEN]:
            document = changed(path, value)
            with self.subTest(path=path, value=value):
                self.assertTrue(tool_takes(document), "the tool refuses it")
                self.assertTrue(self.validator.is_valid(document))

    def test_refuses_what_the_tool_refuses(self):
        for path, value in REFUSED:
            document = changed(path, value)
            with self.subTest(path=path, value=value):
                self.assertFalse(tool_takes(document), "the tool takes it")
                self.assertFalse(self.validator.is_valid(document))

    def test_knows_the_ranges_of_integers(self):
        for document in integer_documents():
            with self.subTest(tensor=document["tensors"][0]):
                self.assertEqual(self.validator.is_valid(document), tool_takes(document))

    def test_takes_every_valid_document_of_the_tests(self):
        found = 0
        for path in sorted(pathlib.Path(TESTDATA).rglob("*.json")):
            try:
                document = json.loads(path.read_text(encoding="utf-8"))
            except (UnicodeDecodeError, ValueError, RecursionError):
                continue
            if run("verify", path).returncode == 0:
                found += 1
                with self.subTest(path=str(path)):
                    self.validator.validate(document)
        self.assertGreater(found, 0)


@unittest.skipUnless(IR_README.exists(), f"{IR_README} does not exist")
class DocumentationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(run("schema").stdout)
        cls.text = IR_README.read_text(encoding="utf-8")

    def test_names_every_key(self):
        for name in sorted(property_names(self.schema)):
            with self.subTest(key=name):
                self.assertRegex(self.text, f'`[^`\n]*\\b{name}\\b[^`\n]*`')

    def test_names_every_word(self):
        tensor = self.schema["$defs"]["tensor"]["properties"]
        for words in (self.schema["$defs"]["dtype"], tensor["space"], tensor["kind"]):
            for name in words["enum"]:
                with self.subTest(word=name):
                    self.assertIn(f"`{name}`", self.text)

    def test_holds_valid_documents(self):
        validator = jsonschema.Draft202012Validator(self.schema)
        documents = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", self.text, re.S | re.M)]
        documents = [each for each in documents if "tensors" in each]
        self.assertTrue(documents)
        for document in documents:
            validator.validate(document)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
