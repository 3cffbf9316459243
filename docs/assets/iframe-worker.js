// Search when the site is opened from a folder: browsers start no worker from a file, so it runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inner = frame.contentWindow;
      addEventListener("message", (event) => {
        if (event.source !== this.inner) return;
        const received = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(received);
        if (this.onmessage) this.onmessage(received);
      });
      const page = frame.contentDocument;
      page.open();
      page.write(`<html><body><script>
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {
          const script = document.createElement("script");
          script.src = url;
          script.onload = done;
          document.body.appendChild(script);
        })), Promise.resolve());
      </scr` + `ipt><script src="${url}"></scr` + `ipt></body></html>`);
      page.close();
      this.ready = new Promise((done) => { frame.onload = done; });
    }
    postMessage(message) {
      this.ready.then(() => {
        this.inner.dispatchEvent(new MessageEvent("message", { data: message }));
      });
    }
    terminate() {}
  };
}
