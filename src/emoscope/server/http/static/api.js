// Calls of our API. Errors carry the server's message.

export async function call(method, path, body, headers = {}) {
  const options = { method, headers: { Accept: "application/json", ...headers } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server cannot be reached.");
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) {
    const wait = response.headers.get("Retry-After");
    const detail = answer?.detail ?? `The server answered ${response.status}.`;
    throw new Error(response.status === 429 && wait ? `${detail} (in ${wait} s)` : detail);
  }
  return answer;
}

export const post = (path, body) => call("POST", path, body);
export const get = (path) => call("GET", path);

/** An element with attributes and children; text is always set as text, never as HTML. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "vars") {
      for (const [key, content] of Object.entries(value)) made.style.setProperty(key, content);
    } else if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
