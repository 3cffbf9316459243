// Explains a row's label by its words, on demand.

import { element, post } from "../api.js";

const signed = (value, digits) => `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(digits)}`;

/** Turns the probabilities of an opened row into buttons, and explains the most likely label. */
export function explainRow(details, turns, { labels, prior }) {
  const why = details.querySelector(".why");
  const items = [...details.querySelectorAll(".scores li")];
  const show = async (item) => {
    for (const one of items) one.firstElementChild.setAttribute("aria-pressed", String(one === item));
    why.replaceChildren(element("p", { class: "quiet small" }, "Finding the words behind this result …"));
    try {
      const found = await post("/v1/explain", { turns, labels, prior, label: item.dataset.label });
      const colour = item.querySelector("rect[fill]").getAttribute("fill");
      why.replaceChildren(...explanation(found, colour));
    } catch (error) {
      why.replaceChildren(element("p", { class: "notice error" }, error.message));
    }
  };
  for (const item of items) {
    const button = element("button", { type: "button", "aria-pressed": "false", on: { click: () => show(item) } });
    button.append(...item.childNodes);
    item.append(button);
  }
  show(items[0]);
}

/** The words, shaded by their contribution to the odds of the label. */
function explanation(found, colour) {
  const words = found.turns.flatMap((turn) => turn.words.map((word) => word.contribution));
  const most = Math.max(0.01, ...words.map(Math.abs));
  const shown = found.turns.filter((turn) => turn.read && turn.text.trim());
  const lines = shown.map((turn) => {
    const line = element("p", { class: "words", vars: { "--emotion": colour } });
    if (turn.speaker) line.append(element("span", { class: "who" }, turn.speaker));
    const characters = Array.from(turn.text); // the server counts code points
    let at = 0;
    for (const word of turn.words) {
      line.append(characters.slice(at, word.start).join(""));
      const weight = Math.min(1, Math.abs(word.contribution) / most);
      const kind = weight < 0.04 ? "word" : word.contribution > 0 ? "word for" : "word against";
      const title = signed(word.contribution, 2);
      line.append(element("span", { class: kind, title, vars: { "--weight": weight.toFixed(3) } }, word.text));
      at = word.end;
    }
    line.append(characters.slice(at).join(""));
    return line;
  });
  const all = shown.flatMap((turn) => turn.words);
  const named = (list) => list.map((word) => `“${word.text}” (${signed(word.contribution, 1)})`).join(", ");
  const strongest = all.filter((word) => word.contribution > 0.05).sort((a, b) => b.contribution - a.contribution).slice(0, 4);
  const against = all.filter((word) => word.contribution < -0.05).sort((a, b) => a.contribution - b.contribution).slice(0, 3);
  const sentence = [
    `Shaded words support ${found.label}, dotted words oppose it. Numbers are log-odds (0.7 doubles the odds).`,
    strongest.length ? ` Strongest support: ${named(strongest)}.` : " No word clearly supports it.",
    against.length ? ` Strongest opposition: ${named(against)}.` : "",
  ].join("");
  return [...lines, element("p", { class: "quiet small" }, sentence)];
}
