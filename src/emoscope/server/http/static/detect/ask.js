// Asks the server for results, which come as a piece of a page.

/** The nodes of the answer. An error carries the server's sentence; an aborted question throws an AbortError. */
export async function askPage(path, question, signal) {
  let response;
  try {
    const headers = { Accept: "application/json", "Content-Type": "application/json" };
    response = await fetch(path, { method: "POST", headers, body: JSON.stringify(question), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server cannot be reached.");
  }
  const text = await response.text();
  if (!response.ok) {
    let detail = `The server answered ${response.status}.`;
    try {
      detail = JSON.parse(text).detail ?? detail;
    } catch {
      // No document, only a status.
    }
    throw new Error(detail);
  }
  return [...new DOMParser().parseFromString(text, "text/html").body.childNodes];
}
