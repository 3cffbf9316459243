// The timeline: a column of probabilities for each turn, as SVG.

const SPACE = "http://www.w3.org/2000/svg";
const WIDTH = 960;
const HEIGHT = 220;
const LEFT = 40;
const BOTTOM = 24;
const TOP = 8;

function shape(tag, attributes, parent) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent?.append(made);
  return made;
}

/** Draw `turns` (scores each) with the labels' colours; `onPick(index)` is called for a column that is clicked. */
export function drawTimeline(turns, labels, firstNumber, summary, onPick) {
  const narrow = window.matchMedia("(max-width: 760px)").matches;
  const width = narrow ? 420 : WIDTH;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": summary });
  const inner = HEIGHT - TOP - BOTTOM;
  for (const share of [0, 0.5, 1]) {
    const y = TOP + inner * (1 - share);
    shape("line", { x1: LEFT, x2: width, y1: y, y2: y, class: "grid-line" }, svg);
    shape("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, svg).textContent = `${share * 100} %`;
  }
  const step = (width - LEFT) / Math.max(turns.length, 1);
  const bar = Math.max(1, Math.min(44, step * 0.78));
  const every = Math.ceil(turns.length / (narrow ? 10 : 24));
  turns.forEach((turn, index) => {
    const column = shape("g", { class: "column" }, svg);
    const x = LEFT + step * index + (step - bar) / 2;
    shape("rect", { x: LEFT + step * index, y: TOP, width: step, height: inner + BOTTOM, class: "back" }, column);
    let bottom = TOP + inner;
    for (const { name, colour } of labels) {
      const height = inner * turn.scores[name];
      if (height < 0.2) continue;
      bottom -= height;
      shape("rect", { x, y: bottom, width: bar, height: Math.max(0.2, height - (height > 3 ? 1 : 0)), fill: colour }, column);
    }
    if (index % every === 0) {
      const text = shape("text", { x: x + bar / 2, y: HEIGHT - 8, "text-anchor": "middle" }, column);
      text.textContent = String(firstNumber + index);
    }
    shape("title", {}, column).textContent = `Turn ${firstNumber + index}: ${turn.label ?? "unsure"}`;
    column.addEventListener("click", () => onPick(index));
  });
  return svg;
}
