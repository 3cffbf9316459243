// The list of an annotator's earlier items.

import { element } from "./api.js";

export class Earlier {
  #ask; // calls the server: a place, or null for the latest
  #entries = []; // the latest first
  #more = true;

  constructor(ask) {
    this.#ask = ask;
  }

  /** Forget what was loaded; an answer has changed it. */
  clear() {
    this.#entries = [];
    this.#more = true;
  }

  get more() {
    return this.#more;
  }

  async load() {
    const told = await this.#ask(this.#entries.at(-1)?.place ?? null);
    this.#entries.push(...told.entries);
    this.#more = told.more;
  }

  /** The entry so many steps before the latest, or undefined. */
  async at(step) {
    while (step >= this.#entries.length && this.#more) await this.load();
    return this.#entries[step];
  }

  draw(list, chips, open) {
    list.replaceChildren(
      ...this.#entries.map((entry, step) => {
        const asked = entry.turns.filter((turn) => turn.asked);
        const text = (asked.length > 1 ? entry.turns[0] : asked[0])?.text || "(nothing)";
        const said = entry.skipped ? element("span", { class: "quiet small" }, "skipped") : chips(entry);
        const stands = entry.stands ? element("span", { class: "quiet small" }, "final") : null;
        return element("li", {}, element("button", { type: "button", on: { click: () => open(step) } }, element("span", { class: "text" }, text), said, stands));
      }),
    );
    if (!this.#entries.length) list.replaceChildren(element("li", { class: "quiet" }, "Nothing yet."));
  }
}
