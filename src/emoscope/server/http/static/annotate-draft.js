// What has been chosen for the current item and not been sent yet. It survives a reload.

export class Draft {
  #key;
  #version;
  #several; // further labels may be named
  #chosen = []; // the places that were answered here, in that order

  constructor(view, token) {
    const asked = view.turns.filter((turn) => turn.asked).length;
    this.#key = `emoscope-draft:${token.slice(0, 12)}`;
    this.#version = view.version;
    this.#several = view.other_labels;
    this.whole = asked > 1;
    this.answers = view.draft.length ? view.draft : Array(asked).fill(null);
    this.at = view.draft.length ? asked - 1 : 0;
    const kept = JSON.parse(sessionStorage.getItem(this.#key) ?? "null");
    if (kept?.version === this.#version && kept.answers.length === asked) {
      this.answers = kept.answers;
      this.#chosen = kept.chosen;
      this.at = Math.min(kept.at, Math.max(asked - 1, 0));
    }
  }

  /** Whether an answer is made of several choices, and so sent by "Next". */
  get staged() {
    return this.whole || this.#several;
  }

  get complete() {
    return this.answers.length > 0 && this.answers.every((answer) => answer !== null);
  }

  get canTakeBack() {
    return this.#chosen.length > 0;
  }

  /** Choose a label for the present place; true if that is the whole answer. */
  choose(label) {
    const before = this.answers[this.at];
    if (!this.#several) {
      this.answers[this.at] = { label, others: [] };
      if (!this.whole) return true;
      this.#note();
      this.advance();
    } else if (before === null) {
      this.answers[this.at] = { label, others: [] };
      this.#note();
    } else if (before.label === label) {
      this.answers[this.at] = null;
      this.#chosen = this.#chosen.filter((place) => place !== this.at);
    } else if (before.others.includes(label)) {
      before.others = before.others.filter((other) => other !== label);
    } else {
      before.others = [...before.others, label];
    }
    this.#keep();
    return false;
  }

  /** Go to the next place without an answer; false if there is none or this one needs it first. */
  advance() {
    if (this.answers[this.at] === null) return false;
    const count = this.answers.length;
    for (let ahead = 1; ahead < count; ahead += 1) {
      const place = (this.at + ahead) % count;
      if (this.answers[place] === null) {
        this.at = place;
        this.#keep();
        return true;
      }
    }
    return false;
  }

  move(by) {
    this.at = Math.min(Math.max(this.at + by, 0), this.answers.length - 1);
  }

  /** Take back the last choice made here; false if there is none. */
  takeBack() {
    const place = this.#chosen.pop();
    if (place === undefined) return false;
    this.answers[place] = null;
    this.at = place;
    this.#keep();
    return true;
  }

  #note() {
    this.#chosen = [...this.#chosen.filter((place) => place !== this.at), this.at];
  }

  #keep() {
    const kept = { version: this.#version, answers: this.answers, chosen: this.#chosen, at: this.at };
    sessionStorage.setItem(this.#key, JSON.stringify(kept));
  }
}
