// A table of any length: only the rows in sight are in the page.

class Table {
  /**
   * columns: {title, key(row), fill(cell, row), isNumber}; key is what the column is sorted by, and may be missing.
   * choose(row) is called when a row is clicked, or with Enter.
   */
  constructor(root, columns, choose) {
    this.root = root;
    this.columns = columns;
    this.choose = choose;
    this.all = this.rows = new Int32Array(0);
    this.cursor = -1;
    this.chosen = -1;
    this.sortedBy = null;
    this.head = add(root, "div", "head");
    this.head.setAttribute("role", "row");
    this.headers = columns.map((column) => {
      const header = add(this.head, "div", column.isNumber ? "number" : "");
      header.setAttribute("role", "columnheader");
      if (!column.key) {
        header.textContent = column.title;
        return header;
      }
      const button = add(header, "button", "", column.title);
      button.type = "button";
      button.addEventListener("click", () => this.sortBy(column));
      return header;
    });
    this.body = add(root, "div", "body");
    this.body.setAttribute("role", "presentation");
    root.addEventListener("scroll", () => this.later());
    root.addEventListener("keydown", (event) => this.onKey(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.take(Number(row.dataset.position));
    });
    new ResizeObserver(() => this.draw()).observe(root);
  }

  setRows(rows) {
    this.all = rows;
    this.restart();
  }

  sortBy(column) {
    const isDescending = this.sortedBy && this.sortedBy.column === column ? !this.sortedBy.isDescending : !!column.isNumber;
    this.sortedBy = {column, isDescending};
    this.restart();
  }

  restart() {
    this.cursor = -1;
    this.root.scrollTop = 0;
    this.sort();
    this.draw();
  }

  sort() {
    this.rows = this.all;
    this.headers.forEach((header) => header.removeAttribute("aria-sort"));
    this.head.querySelectorAll("button").forEach((button) => { button.textContent = button.textContent.replace(/ [▲▼]$/, ""); });
    if (!this.sortedBy) return;
    const {column, isDescending} = this.sortedBy;
    const header = this.headers[this.columns.indexOf(column)];
    header.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    header.firstChild.textContent += isDescending ? " ▼" : " ▲";
    const sign = isDescending ? -1 : 1;
    const keys = new Map(Array.from(this.all, (row) => [row, column.key(row)]));
    // What has no key comes last, either way.
    const order = (a, b) => a === b ? 0 : a === null ? 1 : b === null ? -1 : (a < b ? -sign : sign);
    this.rows = Int32Array.from(this.all).sort((a, b) => order(keys.get(a), keys.get(b)) || a - b);
  }

  later() {
    if (this.isPending) return;
    this.isPending = true;
    requestAnimationFrame(() => { this.isPending = false; this.draw(); });
  }

  measure() {
    // Browsers do not let an element grow much beyond this; a longer table scrolls in larger steps.
    const kTallest = 8e6;
    const probe = add(this.body, "div", "row");
    this.rowHeight = probe.getBoundingClientRect().height || 40;
    probe.remove();
    const fullHeight = this.rows.length * this.rowHeight;
    const bodyHeight = this.rows.length === 0 ? 50 : Math.min(fullHeight, kTallest);
    this.body.style.height = bodyHeight + "px";
    this.viewHeight = Math.max(this.root.clientHeight - this.head.offsetHeight, this.rowHeight);
    const scrollable = bodyHeight - this.viewHeight;
    this.ratio = scrollable > 0 ? (fullHeight - this.viewHeight) / scrollable : 1;
  }

  draw() {
    this.measure();
    const top = this.root.scrollTop;
    const offset = top * this.ratio;
    const first = Math.max(0, Math.floor(offset / this.rowHeight));
    const last = Math.min(this.rows.length, Math.ceil((offset + this.viewHeight) / this.rowHeight) + 1);
    this.root.setAttribute("aria-rowcount", this.rows.length + 1);
    const shown = document.createDocumentFragment();
    for (let position = first; position < last; ++position)
      this.addRow(shown, position, top + position * this.rowHeight - offset);
    if (this.rows.length === 0) add(shown, "div", "empty", "nothing matches");
    this.body.replaceChildren(shown);
    const cursor = this.cursor >= first && this.cursor < last ? this.idOf(this.cursor) : "";
    if (cursor) this.root.setAttribute("aria-activedescendant", cursor);
    else this.root.removeAttribute("aria-activedescendant");
  }

  idOf(position) { return this.root.id + "-" + position; }

  addRow(parent, position, y) {
    const row = this.rows[position];
    const element = add(parent, "div", "row");
    element.id = this.idOf(position);
    element.dataset.position = position;
    element.style.top = y + "px";
    element.setAttribute("role", "row");
    element.setAttribute("aria-rowindex", position + 2);
    element.setAttribute("aria-selected", row === this.chosen);
    element.classList.toggle("chosen", row === this.chosen);
    element.classList.toggle("cursor", position === this.cursor);
    for (const column of this.columns) {
      const cell = add(element, "div", column.isNumber ? "cell number" : "cell");
      cell.setAttribute("role", "gridcell");
      column.fill(cell, row);
    }
  }

  onKey(event) {
    if (event.target !== this.root || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.viewHeight / this.rowHeight) - 1);
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.key in steps) this.move(this.cursor + steps[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && this.cursor >= 0) this.take(this.cursor);
    else return;
    event.preventDefault();
  }

  move(position) {
    if (this.rows.length === 0) return;
    this.cursor = Math.min(Math.max(position, 0), this.rows.length - 1);
    const offset = this.root.scrollTop * this.ratio;
    const top = this.cursor * this.rowHeight;
    if (top < offset) this.root.scrollTop = top / this.ratio;
    else if (top + this.rowHeight > offset + this.viewHeight)
      this.root.scrollTop = Math.ceil((top + this.rowHeight - this.viewHeight) / this.ratio);
    this.draw();
  }

  take(position) {
    this.cursor = position;
    this.chosen = this.rows[position];
    this.draw();
    this.choose(this.chosen);
  }
}
