// Reads an event stream by fetch, as pages must: a browser's EventSource cannot send the key.
import { until } from '../../../../tests/support/until.ts';

export type StreamReader = Awaited<ReturnType<typeof openStream>>;

export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

interface StreamOptions {
  readonly key: string;
  readonly lastEventId?: string | undefined;
  /** Called with each event as it arrives. */
  readonly onEvent?: (event: StreamEvent) => void;
}

export async function openStream(url: string, { key, lastEventId, onEvent }: StreamOptions) {
  const stopping = new AbortController();
  const headers = { 'x-stack-key': key, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const response = await fetch(url, { headers, signal: stopping.signal });
  if (response.status !== 200 || !response.body) throw new Error(`the stream was refused: ${response.status}`);
  const queue: StreamEvent[] = [];

  async function read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body) {
      const blocks = (text + decoder.decode(chunk, { stream: true })).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) receive(block);
    }
  }
  function receive(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
      fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value);
    }
    const data = fields.get('data');
    if (data === undefined) return;
    const received = { id: fields.get('id') ?? '', event: fields.get('event') ?? 'message', data };
    queue.push(received);
    onEvent?.(received);
  }

  const ended = read(response.body).catch(() => {});
  return {
    /** The service has ended it, or has stopped. */
    ended,
    /** Events that were received and not yet asked for. */
    get waiting() {
      return queue.length;
    },
    /** The next event, which must have this name. */
    async next(name: string) {
      await until(() => queue.length > 0, { what: `the event ${name}` });
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
