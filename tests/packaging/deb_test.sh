#!/usr/bin/env bash
# deb_test.sh build BUILD FOLDER    makes the Debian package and leaves it in FOLDER
# deb_test.sh install FOLDER        installs it into a root of its own and runs what is there; exits 77 unless root
set -euo pipefail

build() {
  rm -rf "$2"
  mkdir -p "$2"
  (cd "$2" && cpack -G DEB -B "$2" --config "$1/CPackConfig.cmake" >cpack.log) || { cat "$2/cpack.log"; exit 1; }
  package=$(echo "$2"/dtypemut_*.deb)
  dpkg-deb -c "$package" >"$2/contents"
  for file in bin/dtypemut lib/libdtypemut.a include/dtypemut/passes/dtype_mutator.h include/dtypemut/ir/op_table.def \
    lib/cmake/dtypemut/dtypemutConfig.cmake share/man/man1/dtypemut.1.gz share/doc/dtypemut/copyright \
    share/bash-completion/completions/dtypemut share/zsh/vendor-completions/_dtypemut; do
    grep -q " ./usr/$file\$" "$2/contents" || { echo "the package lacks /usr/$file"; exit 1; }
  done
  depends=$(dpkg-deb -f "$package" Depends)
  for library in libc6 libstdc++6 libtbb libssl libspdlog; do
    [[ $depends == *"$library"* ]] || { echo "the package does not depend on $library but on $depends"; exit 1; }
  done
}

# With the status of the real system, so that dependencies are looked for there.
install() {
  [ "$(id -u)" -eq 0 ] || { echo "dpkg installs only for root"; exit 77; }
  root=$(mktemp -d)
  trap 'rm -r "$root"' EXIT
  mkdir -p "$root"/var/lib/dpkg/{info,updates}
  sed '/^Package: dtypemut$/,/^$/d' /var/lib/dpkg/status >"$root/var/lib/dpkg/status"
  exec 2> >(grep -v '^dpkg: warning: files list file' >&2)  # of the packages that are not there
  dpkg --root="$root" -i "$1"/dtypemut_*.deb
  PATH="$root/usr/bin:$PATH"
  [ "$(command -v dtypemut)" = "$root/usr/bin/dtypemut" ]
  dtypemut --version
  dtypemut targets | grep -q maverick
  printf '{"tensors": [], "instructions": []}' | dtypemut verify -
  zcat "$root/usr/share/man/man1/dtypemut.1.gz" | grep -q '^.TH DTYPEMUT 1'
  dpkg --root="$root" -r dtypemut
  [ ! -e "$root/usr/bin/dtypemut" ]
}

"$@"
