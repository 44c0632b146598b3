import { codeOf } from "./code.mjs";

export class Store {
  #urls = new Map();

  add(url) {
    const code = codeOf(url);
    this.#urls.set(code, url);
    return code;
  }

  find(code) {
    return this.#urls.get(code);
  }
}
