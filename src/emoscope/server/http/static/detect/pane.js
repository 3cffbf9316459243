// One conversation of the detect page: its input, how it is read, and its results.

import { element } from "../api.js";
import { askPage } from "./ask.js";
import { read, write } from "./read.js";
import { wireResults } from "./results.js";
import { wireColumns } from "./table-choice.js";

const CONTEXT = 5; // turns sent before a part, as context
const MAX_FILE_BYTES = 20 * 1024 * 1024;
const EDITABLE = 100_000; // characters of a file that is shown in the input box
const PAUSE = 350; // ms without a key press before live results are requested
const FORMATS = { lines: "", csv: "Read as a table.", tsv: "Read as a table.", json: "Read as JSON.", whatsapp: "Read as a WhatsApp export.", telegram: "Read as a Telegram export." };

/** The text of a file in UTF-8, or in UTF-16 with its mark; throws if it is neither. */
function decoded(bytes) {
  const marked = { "255,254": "utf-16le", "254,255": "utf-16be" }[bytes.slice(0, 2).join()];
  return new TextDecoder(marked ?? "utf-8", { fatal: true }).decode(bytes);
}

export class Pane {
  /** `page` is `{limits, chosen(), isLive(), changed()}`. */
  constructor(node, number, page) {
    this.suffix = node.dataset.suffix;
    this.number = number;
    this.page = page;
    this.name = ""; // of the opened file
    this.file = null; // the text of a file too large for the input box
    this.columns = null; // the chosen columns, and the table they belong to
    this.input = this.$("conversation");
    this.showColumns = wireColumns(this.$("columns"), (columns) => {
      this.columns = { ...columns, of: this.signature };
      this.read();
      this.ask();
    });
    this.input.addEventListener("input", () => this.typed());
    this.$("file").addEventListener("change", () => this.open(this.$("file").files[0]));
    this.$("dialogue").addEventListener("change", () => {
      this.$("part").value = "0";
      this.ask();
    });
    this.$("part").addEventListener("change", () => this.ask());
    for (const type of ["dragover", "dragleave", "drop"]) {
      node.addEventListener(type, (event) => {
        if (![...event.dataTransfer.types].includes("Files")) return;
        event.preventDefault();
        node.classList.toggle("dropping", type === "dragover");
        if (type === "drop") this.open(event.dataTransfer.files[0]);
      });
    }
  }

  $(id) {
    return document.getElementById(id + this.suffix);
  }

  get draft() {
    return { text: this.input.value, name: this.name };
  }

  /** Sets the text, as if it had been typed or a small file opened. */
  take({ text, name = "" }, live = true) {
    [this.input.value, this.name, this.file, this.columns] = [text, name, null, null];
    this.page.changed();
    this.ask(live);
  }

  typed() {
    this.file = null;
    if (this.name && !this.input.value.startsWith(this.firstLine)) this.name = "";
    this.page.changed();
    clearTimeout(this.pause);
    if (this.page.isLive()) this.pause = setTimeout(() => this.ask(true), PAUSE);
  }

  async open(file) {
    if (!file) return;
    this.$("file").value = "";
    if (file.size > MAX_FILE_BYTES) return this.fail("This file is larger than 20 MB. Please open a part of it.");
    let text;
    try {
      text = decoded(new Uint8Array(await file.arrayBuffer()));
    } catch {
      return this.fail(`${file.name} is not UTF-8 text: save it as UTF-8, in Excel as “CSV UTF-8”.`);
    }
    if (text.includes("\0")) return this.fail(`${file.name} is not a text file.`);
    if (text.length <= EDITABLE) return this.take({ text, name: file.name }, false);
    [this.file, this.name, this.columns] = [text, file.name, null];
    this.ask();
  }

  /** Reads the text again, and shows how. False if it cannot be read. */
  read() {
    const text = this.file ?? this.input.value;
    this.firstLine = text.split("\n", 1)[0];
    let reading;
    try {
      reading = read(text, this.name);
      this.signature = reading.table?.names.join("|");
      if (this.columns && this.columns.of === this.signature) reading = read(text, this.name, this.columns);
    } catch (error) {
      this.fail(error.message);
      return false;
    }
    this.reading = reading;
    this.showColumns(reading);
    const { leftOut, conversations } = reading;
    const left = leftOut ? ` ${leftOut} entr${leftOut === 1 ? "y" : "ies"} without text skipped.` : "";
    const how = `${FORMATS[reading.format]}${left}`.trim();
    this.$("format").textContent = this.name && how ? `${this.name}: ${how}` : this.name || how;
    const chosen = this.$("dialogue").value;
    this.$("dialogue-choice").hidden = conversations.length < 2;
    const all = element("option", { value: "all" }, `all ${conversations.length} conversations, last turn of each`);
    const each = conversations.slice(0, 1000).map(({ name }, index) => element("option", { value: index }, `${index + 1} of ${conversations.length}: ${name.slice(0, 40)}`));
    this.$("dialogue").replaceChildren(...(conversations.length > 1 ? [all, ...each] : []));
    if ([...this.$("dialogue").options].some((option) => option.value === chosen)) this.$("dialogue").value = chosen;
    return true;
  }

  /** The question to send: one conversation or all of them; a part if they are too long. */
  question() {
    const { conversations } = this.reading;
    const several = conversations.length > 1 && this.$("dialogue").value === "all";
    const { turns } = conversations[several ? 0 : Number(this.$("dialogue").value || 0)];
    const { max_turns, max_dialogues } = this.page.limits;
    const size = several ? max_dialogues : Math.max(1, max_turns - CONTEXT);
    const start = this.showParts(several ? conversations.length : turns.length, size) * size;
    const skip = several ? 0 : Math.min(CONTEXT, start);
    if (this.file !== null) {
      this.input.value = write(turns.slice(start, start + size));
      this.page.changed();
    }
    const dialogues = several
      ? conversations.slice(start, start + size).map((one) => ({ name: one.name, turns: one.turns.slice(-max_turns) }))
      : [{ turns: turns.slice(start - skip, start + size) }];
    return { dialogues, each_turn: !several, skip, first: start + 1, ...this.page.chosen() };
  }

  /** Shows the parts to choose from; returns the chosen one. */
  showParts(count, size) {
    const parts = Math.ceil(count / size);
    const chosen = Math.min(Number(this.$("part").value || 0), parts - 1);
    this.$("part-choice").hidden = parts < 2;
    this.$("part").replaceChildren(
      ...Array.from({ length: parts }, (_, part) => element("option", { value: part, selected: part === chosen }, `${part * size + 1} to ${Math.min(count, (part + 1) * size)}`)),
    );
    return chosen;
  }

  /** Requests the results. Without input, a live request only clears them. */
  async ask(live = false) {
    clearTimeout(this.pause);
    this.aborter?.abort();
    this.$("error").hidden = true;
    if (!this.read()) return;
    if (!this.reading.conversations.length) {
      this.$("results").hidden = true;
      this.$("status").textContent = "";
      const typed = this.reading.format === "lines" && !this.name;
      if (!live) this.fail(typed ? "Type or paste a conversation first." : `No turns were found in ${this.name || "it"}.`);
      return;
    }
    const question = this.question();
    const { signal } = (this.aborter = new AbortController());
    if (this.$("results").hidden) this.$("status").textContent = "Detecting …";
    try {
      const nodes = await askPage(`/detect/results?pane=${this.number}`, question, signal);
      wireResults(this.$("results"), question, nodes);
      this.$("results").hidden = false;
      this.$("status").textContent = this.$("results").querySelector("[data-summary]").dataset.summary;
    } catch (error) {
      if (error.name !== "AbortError") this.fail(error.message);
    }
  }

  fail(message) {
    this.$("status").textContent = "";
    const named = /^\S+\.\S/.test(message); // keep the case of a file name
    this.$("error").textContent = named ? message : message.slice(0, 1).toUpperCase() + message.slice(1);
    this.$("error").hidden = false;
  }
}
