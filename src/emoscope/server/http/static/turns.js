// One turn of the result: what was said, how it was judged, and on demand the words that mattered.

import { element, post } from "./api.js";

export const percent = (share) => (share > 0 && share < 0.005 ? "<1 %" : `${Math.round(share * 100)} %`);

const signed = (value, digits) => `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(digits)}`;

/** A list item for turn `index`. `asked` says what was sent: `{turns, labels, prior, first}`. */
export function turnItem(index, turn, said, asked, colours) {
  const label = turn.label ?? "unsure";
  const sure = turn.label ? turn.scores[turn.label] : Math.max(...Object.values(turn.scores));
  const id = `detail-${index}`;
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  for (const [name, score] of Object.entries(turn.scores)) {
    bar.append(element("span", { vars: { "--emotion": colours[name], "--share": String(score) } }));
  }
  const detail = element("div", { class: "detail", id, hidden: true });
  const button = element(
    "button",
    { type: "button", "aria-expanded": "false", "aria-controls": id },
    said.speaker ? element("span", { class: "speaker" }, said.speaker, element("span", { class: "visually-hidden" }, ": ")) : null,
    element("span", { class: "said" }, said.text || "(nothing)"),
    element(
      "span",
      { class: "verdict" },
      element("span", { class: "chip" }, label, turn.truncated ? cutMark() : null),
      element("span", { class: "percent" }, percent(sure)),
    ),
    bar,
    turn.note ? element("span", { class: "note" }, turn.note) : null,
  );
  const item = element(
    "li",
    { class: "turn", id: `turn-${index}`, vars: { "--emotion": colours[turn.label] ?? "#8a8f98", "--sure": String(sure) } },
    button,
    detail,
  );
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    detail.hidden = !open;
    if (open && !detail.childElementCount) fillDetail(detail, index, turn, asked, colours);
  });
  return item;
}

const cutMark = () =>
  element("span", { title: "not all that was said before was read" }, " ✂", element("span", { class: "visually-hidden" }, " (judged on a part)"));

function fillDetail(detail, index, turn, asked, colours) {
  const scores = element("ul", { class: "scores", "aria-label": "Probabilities; choose one to see its words" });
  const why = element("div", { role: "status", "aria-live": "polite" });
  const ranked = Object.entries(turn.scores).sort((a, b) => b[1] - a[1]);
  const show = async (label) => {
    for (const button of scores.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.label === label));
    }
    why.replaceChildren(element("p", { class: "quiet small" }, "Looking for the words that mattered …"));
    try {
      const turns = asked.turns.slice(0, index + 1 + asked.first);
      const found = await post("/v1/explain", { turns, labels: asked.labels, prior: asked.prior, label });
      why.replaceChildren(...explanation(found, colours));
    } catch (error) {
      why.replaceChildren(element("p", { class: "notice error" }, error.message));
    }
  };
  for (const [name, score] of ranked) {
    scores.append(
      element(
        "li",
        { vars: { "--emotion": colours[name], "--share": `${score * 100}%` } },
        element(
          "button",
          { type: "button", "data-label": name, "aria-pressed": "false", on: { click: () => show(name) } },
          element("span", {}, name),
          element("span", { class: "track", "aria-hidden": "true" }, element("span", { class: "fill" })),
          element("span", { class: "number" }, `${(score * 100).toFixed(1)} %`),
        ),
      ),
    );
  }
  for (const fill of scores.querySelectorAll(".fill")) fill.style.display = "block";
  detail.append(scores, why);
  show(turn.label ?? ranked[0][0]);
}

/** The words, shaded by what they added to the odds of the label. */
function explanation(found, colours) {
  const words = found.turns.flatMap((turn) => turn.words.map((word) => word.contribution));
  const most = Math.max(0.01, ...words.map(Math.abs));
  const shown = found.turns.filter((turn) => turn.read && turn.text.trim());
  const lines = shown.map((turn) => {
    const line = element("p", { class: "words", vars: { "--emotion": colours[found.label] } });
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
    `Shaded words speak for ${found.label}, dotted ones against it, in log-odds (0.7 doubles the odds).`,
    strongest.length ? ` Most for: ${named(strongest)}.` : " No word speaks clearly for it.",
    against.length ? ` Most against: ${named(against)}.` : "",
  ].join("");
  return [...lines, element("p", { class: "quiet small" }, sentence)];
}
