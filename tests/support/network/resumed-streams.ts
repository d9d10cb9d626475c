// Clients of stored streams that go on at another gateway when one fails, and what is wrong with what they have received.
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import type { Json } from '../../../services/gateway/src/test/harness.ts';
import { truthOf } from './streams.ts';

export interface ResumingClient {
  /** The address of a gateway, running or not: another one for each attempt. */
  readonly next: () => string;
  readonly key: string;
  readonly tokens: number;
  /** Receipts of the answers that have begun for it. */
  readonly receipts: Set<string>;
  /** Ends what has not ended. */
  readonly signal?: AbortSignal;
  resumptions: number;
  /** Refusals, by status and code. */
  readonly refusals?: Map<string, number>;
}

export interface ResumedStream {
  /** Empty: it is complete, and nothing is lost or repeated. */
  readonly faults: readonly string[];
  readonly receiptId: string;
}

/** A fault: the answer ended with an error, as where its gateway has had no worker for ten seconds. */
export const FAILED = 'the answer failed';

const PROMPT = [300, 500];
const RETRY_MS = 100;
/** After a refusal: what `retry-after` asks for at least, as another gateway may be able to answer. */
const REFUSED_MS = 1_000;
/** Of one attempt: a gateway that is suspended or cut off does not answer. */
const SILENT_MS = 10_000;

/** `POST /v1/completions`, continued with `Last-Event-ID`. */
export async function resumedCompletion(client: ResumingClient, seed: number): Promise<ResumedStream> {
  const asked = { model: 'simulated', prompt: PROMPT, seed, max_tokens: client.tokens, stream: true, store: true };
  const [ids, data]: [string[], string[]] = [[], []];
  let [receiptId, answer]: (string | undefined)[] = [];
  await untilComplete(client, async (signal, received) => {
    const last = ids.at(-1) ?? answer;
    const response = await fetch(`${client.next()}/v1/completions`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
        ...(last === undefined ? {} : { 'last-event-id': last }),
      },
      body: JSON.stringify(asked),
      signal,
    });
    if (response.status !== 200) {
      const { error } = (await response.json().catch(() => ({}))) as Json;
      const refusal = `${response.status} ${error?.code}`;
      client.refusals?.set(refusal, (client.refusals.get(refusal) ?? 0) + 1);
      await sleep(REFUSED_MS);
      return false;
    }
    receiptId = response.headers.get('x-receipt-id') ?? '';
    answer = response.headers.get('x-answer-id') ?? undefined;
    client.receipts.add(receiptId);
    let rest = '';
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      received();
      const events = (rest + text).split('\n\n');
      rest = events.pop() ?? '';
      for (const [, id, json] of events.map((event) => /^id: (\S+)\ndata: (.+)$/.exec(event) ?? [])) {
        if (id === undefined || json === undefined) continue;
        ids.push(id);
        data.push(json);
      }
    }
    return data.at(-1) === '[DONE]' || isError(data.at(-1));
  });
  const hasFailed = isError(data.at(-1));
  const chunks: Json[] = data.slice(0, -1).map((json) => JSON.parse(json));
  const text = chunks.map(({ choices }) => choices[0]?.text ?? '').join('');
  const truth = truthOf({ prompt: PROMPT, seed, tokens: client.tokens });
  const faults = [
    ...(new Set(ids.map((id) => id.split(':')[0])).size === 1 ? [] : ['several answers']),
    ...(ids.every((id, n) => id.endsWith(`:${n}`)) ? [] : ['events are lost or repeated']),
    ...((hasFailed ? truth.startsWith(text) : text === truth)
      ? []
      : ['the text differs from that of an undisturbed run']),
    ...(hasFailed ? [FAILED] : []),
  ];
  return { faults, receiptId: receiptId ?? '' };
}

const isError = (json: string | undefined) => json?.startsWith('{"error":') === true;

/** A response in the background, continued by the `openai` client with `starting_after`. */
export async function resumedResponse(client: ResumingClient): Promise<ResumedStream> {
  const events: Json[] = [];
  let receiptId = '';
  await untilComplete(client, async (signal, received) => {
    const api = new OpenAI({ baseURL: `${client.next()}/v1`, apiKey: client.key, maxRetries: 0 });
    const id = events[0]?.response.id;
    const asked = { model: 'simulated', input: 'Hello', max_output_tokens: client.tokens } as const;
    const after = { stream: true, starting_after: events.length - 1 } as const;
    const { data, response } = await (id === undefined
      ? api.responses.create({ ...asked, background: true, stream: true }, { signal })
      : api.responses.retrieve(id, after, { signal })
    ).withResponse();
    receiptId = response.headers.get('x-receipt-id') ?? '';
    client.receipts.add(receiptId);
    for await (const event of data) {
      received();
      events.push(event);
    }
    return events.at(-1)?.response?.status === 'incomplete';
  });
  const deltas = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta);
  const { response } = events.at(-1);
  const faults = [
    ...(events.every(({ sequence_number }, n) => sequence_number === n) ? [] : ['events are lost or repeated']),
    ...(deltas.join('') === response.output[0].content[0].text ? [] : ['the text differs from that of the response']),
    ...(response.usage.output_tokens === client.tokens ? [] : [`usage of ${response.usage.output_tokens} tokens`]),
  ];
  return { faults, receiptId };
}

/** Reads until `read` says that the stream is complete. */
async function untilComplete(
  client: ResumingClient,
  read: (signal: AbortSignal, received: () => void) => Promise<boolean>,
): Promise<void> {
  for (;;) {
    client.signal?.throwIfAborted();
    const silent = new AbortController();
    const timer = setTimeout(() => silent.abort(), SILENT_MS);
    const isComplete = await read(silent.signal, () => timer.refresh()).catch(() => false);
    clearTimeout(timer);
    if (isComplete) return;
    client.resumptions += 1;
    await sleep(RETRY_MS);
  }
}
