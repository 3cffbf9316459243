// Chat exports: WhatsApp's text and Telegram's result.json. Media and notices are skipped and counted.

// "12/01/2024, 10:11 - Name: text" and "[12.01.24, 10:11:12] Name: text", in the many orders of dates.
const HEAD = /^\[?\d{1,4}([./-])\d{1,2}\1\d{1,4},?\s+\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s*[AaPp]\.?\s?[Mm]\.?)?(?:\]\s*|\s+[-–]\s+)/;
const SPOKEN = /^([^:]{1,100}?): ?(.*)$/s;
// Placeholders of media, files and deleted messages.
const LEFT_OUT = new RegExp(
  "^(<[^<>]*(omitted|ausgeschlossen|weggelassen|omitido|oculto|oculta|omis|omessi|weggelaten|attached|anhang)[^<>]*>" +
    "|(image|video|audio|sticker|GIF|document|contact card) omitted|(Bild|Video|Audio|Sticker|GIF|Dokument) weggelassen" +
    "|[^\\n]+\\((file attached|Datei angehängt)\\)|(this message was deleted|you deleted this message|null)\\.?)$",
  "i",
);

// The mark with which iPhones begin what nobody typed: notices, media, "this message was edited".
const OWN_WORDS = "\u200e";
const EDITED = /\s*\u200e?<(This message was edited|Diese Nachricht wurde bearbeitet\.?)>$/i;

export const beginsEntry = (line) => HEAD.test(line);

/** The turns of a WhatsApp export, from its lines: `{conversations, leftOut}`. */
export function readWhatsapp(lines) {
  const entries = [];
  for (const raw of lines) {
    const line = raw.replace(/^\u200e+/, "");
    if (beginsEntry(line)) entries.push(line.replace(HEAD, ""));
    else if (entries.length) entries.push(`${entries.pop()}\n${line}`);
  }
  const turns = [];
  for (const entry of entries) {
    // An entry without a speaker is the app's own: "Messages are end-to-end encrypted".
    const [, speaker, text] = SPOKEN.exec(entry) ?? [null, "", ""];
    const [name, said] = [speaker, text.trim().replace(EDITED, "")].map((part) => part.replaceAll(OWN_WORDS, "").trim());
    if (said && !LEFT_OUT.test(said) && !text.trim().startsWith(OWN_WORDS)) turns.push({ speaker: name, text: said });
  }
  return { conversations: turns.length ? [{ name: "conversation", turns }] : [], leftOut: entries.length - turns.length };
}

export function isTelegram(document) {
  const typed = Array.isArray(document?.messages) && document.messages.some((message) => message?.type !== undefined);
  return typed || Boolean(document?.chats?.list);
}

/** The chats of a Telegram export: one, or all of an account. */
export function readTelegram(document) {
  const chats = document.messages ? [document] : document.chats.list;
  let leftOut = 0;
  const conversations = chats.map((chat, index) => {
    const turns = [];
    for (const message of chat.messages ?? []) {
      const parts = typeof message.text === "string" ? [message.text] : message.text ?? [];
      const text = message.type === "message" ? parts.map((part) => part.text ?? part).join("").trim() : "";
      if (text) turns.push({ speaker: String(message.from || message.from_id || "unknown"), text });
      else leftOut++;
    }
    return { name: document.messages ? "conversation" : String(chat.id ?? index + 1), turns };
  });
  return { conversations: conversations.filter((one) => one.turns.length), leftOut };
}
