// JSON of publishers, looked over before it is parsed: brackets alone can make a document fill the memory.

/** No publisher's document is deeper than some ten. */
const MAX_DEPTH = 200;
/** Arrays and objects: 64 MiB of `[` take 2.6 GiB to parse. The largest page of the NVD has some hundred thousand. */
const MAX_PARTS = 4_000_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Throws SyntaxError where it is no JSON, and RangeError where it is deeper or of more parts than anything that we read. */
export function readJson(body: Buffer): unknown {
  refuseMaze(body);
  return JSON.parse(body.toString('utf8')) as unknown;
}

function refuseMaze(body: Buffer): void {
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) at = endOfText(body, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      parts += 1;
      if (depth > MAX_DEPTH || parts > MAX_PARTS) throw new RangeError('too deep, or of too many parts');
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
}

/** Where the quote is that ends a text; the end of the document where none does. */
function endOfText(body: Buffer, from: number): number {
  for (let at = body.indexOf(QUOTE, from + 1); at !== -1; at = body.indexOf(QUOTE, at + 1)) {
    let backslashes = 0;
    while (body[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return body.length;
}
