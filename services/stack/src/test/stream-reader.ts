// Reads an event stream by fetch, as pages must: a browser's EventSource cannot send the key.

export interface ReadEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export interface StreamReader extends AsyncDisposable {
  /** The next event of this name; others before it fail the test. */
  next(name: string): Promise<ReadEvent>;
  /** Events that have come and nobody asked for. */
  readonly waiting: number;
  readonly comments: readonly string[];
  /** The newest id that came, with an event or alone. */
  readonly place: string;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
}

const PATIENCE_MS = 5_000;

export async function openStream(
  url: string,
  { key, lastEventId }: { readonly key: string; readonly lastEventId?: string },
): Promise<StreamReader> {
  const stopping = new AbortController();
  const headers = { 'x-stack-key': key, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const response = await fetch(url, { headers, signal: stopping.signal });
  if (response.status !== 200 || !response.body) throw new Error(`the stream was refused: ${response.status}`);
  const queue: ReadEvent[] = [];
  const comments: string[] = [];
  let place = '';
  let wake = () => {};

  async function read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        take(text.slice(0, end));
        text = text.slice(end + 2);
      }
      wake();
    }
  }
  function take(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
      if (name === '') comments.push(value);
      else fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value);
    }
    place = fields.get('id') ?? place;
    const data = fields.get('data');
    if (data !== undefined) queue.push({ id: fields.get('id') ?? '', event: fields.get('event') ?? 'message', data });
  }

  const ended = read(response.body).catch(() => {});
  return {
    comments,
    ended,
    get place() {
      return place;
    },
    get waiting() {
      return queue.length;
    },
    async next(name) {
      const deadline = Date.now() + PATIENCE_MS;
      while (queue.length === 0) {
        const left = deadline - Date.now();
        if (left <= 0) throw new Error(`no event came; waited for ${name}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, left);
        });
      }
      const event = queue.shift();
      if (event?.event !== name) throw new Error(`expected ${name}, got ${event?.event}: ${event?.data}`);
      return event;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await ended;
    },
  };
}
