// A link that contains the text after its "#", which browsers do not send to servers.

const MOST = 30_000; // characters; mail and chat programs cut longer links

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

/** The address of this page with `content` in it, compressed. */
export async function linkOf(content) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(content)), new CompressionStream("deflate-raw"));
  const packed = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const hash = packed.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (hash.length > MOST) throw new Error("This text is too long for a link. Please share the file instead.");
  return `${location.origin}${location.pathname}${location.search}#t=${hash}`;
}

/** The content of the link the page was opened with; null if there is none. */
export async function linkedContent() {
  const found = /^#t=([\w-]+)$/.exec(location.hash);
  if (!found) return null;
  try {
    const packed = atob(found[1].replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const content = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
    return Array.isArray(content.panes) ? content : null;
  } catch {
    throw new Error("This link is damaged and cannot be read.");
  }
}
