/** A terminal's screen, for the control sequences that Maestro writes: rows of cells, each a character and its style. */
export class TerminalScreen {
  rows = [[]];
  #row = 0;
  #column = 0;
  #bold = false;
  #dim = false;
  #color = undefined;

  write(text) {
    const [first, ...rest] = text.split("\u001b");
    this.#print(first);
    for (const piece of rest) {
      const [sequence = "", parameter, command] = /^\[\??([\d;]*)([A-Za-z])/.exec(piece) ?? [];
      this.#control(parameter, command);
      this.#print(piece.slice(sequence.length));
    }
  }

  #print(text) {
    for (const character of text) {
      if (character === "\n") this.#down();
      else if (character === "\r") this.#column = 0;
      else this.#put(character);
    }
  }

  #control(parameter, command) {
    if (command === "A") this.#row = Math.max(0, this.#row - Number(parameter || 1));
    else if (command === "K") this.rows[this.#row] = [];
    else if (command === "J") {
      this.rows.length = this.#row + 1;
      this.rows[this.#row]?.splice(this.#column);
    } else if (command === "m") for (const code of parameter.split(";")) this.#paint(Number(code));
  }

  #paint(code) {
    if (code === 1) this.#bold = true;
    else if (code === 2) this.#dim = true;
    else if (code === 0 || code === 22) this.#bold = this.#dim = false;
    if (code === 0 || code === 39) this.#color = undefined;
    else if (code >= 31 && code <= 36) this.#color = code;
  }

  #down() {
    this.#row += 1;
    this.rows[this.#row] ??= [];
  }

  #put(character) {
    const row = this.rows[this.#row];
    while (row.length < this.#column) row.push({ character: " " });
    row[this.#column] = { character, bold: this.#bold, dim: this.#dim, color: this.#color };
    this.#column += 1;
  }
}
