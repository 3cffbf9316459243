// Conversations from text: plain lines, chat exports, JSON and JSONL. Everything stays in the browser.

// "12/01/2024, 10:11 - Name: text" and "[12.01.24, 10:11:12] Name: text", in the many orders of dates.
const STAMP = /^\[?(\d{1,4}[./-]\d{1,2}[./-]\d{1,4}),?\s+(\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?\s?[Mm]\.?)?)\]?\s*(?:[-–]\s*)?/;
const SPEAKER = /^([^\s:][^:]{0,39}?):\s+(.*)$/s;
// Marks of direction and narrow spaces that exports are full of.
const MARKS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
// What stands for something that was not said: media, files, deleted messages.
const LEFT_OUT = new RegExp(
  "^(<[^<>]*(omitted|attached|ausgeschlossen|weggelassen|anhang|omitido|oculto|oculta|omis|omessi|weggelaten)[^<>]*>" +
    "|(image|video|audio|sticker|GIF|document|contact card) omitted|(Bild|Video|Audio|Sticker|GIF|Dokument) weggelassen" +
    "|[^\\n]+\\((file attached|Datei angehängt)\\)|(this message was deleted|you deleted this message|null)\\.?)$",
  "i",
);

/** Conversations, each `{name, turns: [{speaker, text}]}`, from whatever the text is. */
export function readConversations(text) {
  const clean = text.replace(MARKS, "").replace(/[\u202f\u00a0]/g, " ").replace(/\r\n?/g, "\n").trim();
  if (!clean) return [];
  const first = clean[0];
  if (first === "{" || first === "[") {
    const found = readJson(clean);
    if (found) return found;
  }
  const lines = clean.split("\n");
  const stamped = lines.filter((line) => STAMP.test(line)).length;
  const turns = stamped >= 1 && stamped * 4 >= lines.length ? readExport(lines) : lines.map(readLine).filter(Boolean);
  return turns.length ? [{ name: "conversation", turns }] : [];
}

function readLine(line) {
  const text = line.trim();
  if (!text) return null;
  const match = SPEAKER.exec(text);
  // "see: http..." has no space after "http:", and a long "speaker" is a sentence.
  if (match && match[1].split(/\s+/).length <= 4) return { speaker: match[1].trim(), text: match[2].trim() };
  return { speaker: null, text };
}

function readExport(lines) {
  const turns = [];
  let open = null;
  for (const line of lines) {
    const stamp = STAMP.exec(line);
    if (!stamp) {
      if (open) open.text += `\n${line}`;
      continue;
    }
    const said = SPEAKER.exec(line.slice(stamp[0].length));
    // A line without a speaker is the app's own: "Messages are end-to-end encrypted".
    open = said ? { speaker: said[1].trim(), text: said[2] } : null;
    if (open) turns.push(open);
  }
  return turns
    .map((turn) => ({ speaker: turn.speaker, text: turn.text.trim() }))
    .filter((turn) => turn.text && !LEFT_OUT.test(turn.text));
}

function readJson(text) {
  let values;
  try {
    values = [JSON.parse(text)];
    if (Array.isArray(values[0])) values = isTurns(values[0]) ? values : values[0];
  } catch {
    values = [];
    for (const [number, line] of text.split("\n").entries()) {
      if (!line.trim()) continue;
      try {
        values.push(JSON.parse(line));
      } catch {
        if (number === 0) return null; // "[12.01.24, ..." is no JSON
        throw new Error(`Line ${number + 1} is not valid JSON.`);
      }
    }
  }
  // One turn a line makes one conversation; one list of turns a line makes many.
  if (values.length && values.every(isTurn)) return [{ name: "conversation", turns: values.map(toTurn) }];
  return values.map((value, number) => ({ name: nameOf(value, number), turns: turnsOf(value, number + 1) }));
}

const isTurn = (value) => typeof value === "string" || typeof value?.text === "string" || typeof value?.utterance === "string";
const isTurns = (value) => value.length > 0 && value.every(isTurn);
const nameOf = (value, number) => String(value?.id ?? value?.name ?? `${number + 1}`);

function toTurn(value) {
  if (typeof value === "string") return { speaker: null, text: value };
  const speaker = value.speaker ?? value.from ?? value.author ?? null;
  return { speaker: speaker === null ? null : String(speaker), text: value.text ?? value.utterance };
}

function turnsOf(value, row) {
  if (Array.isArray(value) && isTurns(value)) return value.map(toTurn);
  if (Array.isArray(value?.turns) && isTurns(value.turns)) return value.turns.map(toTurn);
  const numbered = Object.keys(value ?? {})
    .filter((key) => /^turn_?\d+$/i.test(key))
    .sort((a, b) => Number(a.replace(/\D/g, "")) - Number(b.replace(/\D/g, "")));
  if (numbered.length) return numbered.filter((key) => value[key]).map((key) => toTurn(String(value[key])));
  throw new Error(`Conversation ${row} has no turns: expected a list, or "turns", or "text".`);
}

/** The text that stands for a conversation in the input box. */
export function writeConversation(turns) {
  return turns.map(({ speaker, text }) => (speaker ? `${speaker}: ` : "") + text.replace(/\s*\n\s*/g, " ")).join("\n");
}
