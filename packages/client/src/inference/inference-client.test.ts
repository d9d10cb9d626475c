// Chats with servers that disconnect, stall or send invalid data; tests/full/clients/client.test.ts uses the real gateway.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { it } from 'node:test';
import type { AnswerEvent, AnswerOptions, ChatRecord } from '../index.ts';
import { AnswerSpeed, InferenceClient, InferenceProblem, tokensPerSecond } from '../index.ts';
import { type Answering, rejectionOf, STREAM, sends, startHttpServer } from '../test/http-server.ts';

const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const SALT = 'ab'.repeat(32);
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (part: object, more: object = {}) => data({ choices: [{ index: 0, delta: part, ...more }] });
const chunk = (content: string) => delta({ content });
const streams = (text: string, more: object = {}) => sends(text, 200, { ...STREAM, 'x-receipt-id': 'rwr_1', ...more });

/** The text until the chat failed, and the problem. */
async function failedChat(answering: Answering, timeoutMs = 20_000) {
  await using server = await startHttpServer(answering);
  let text = '';
  let ends = 0;
  const reading = (async () => {
    const chat = new InferenceClient({ ...server, timeoutMs }).chat(request, { onEnd: () => (ends += 1) });
    for await (const { choices } of chat) text += choices[0]?.delta.content ?? '';
  })();
  const { status, code, param, type, retryAfterSeconds } = await rejectionOf(reading, InferenceProblem);
  assert.equal(ends, 0);
  return { text, status, code, ...(param && { param, type, retryAfterSeconds }) };
}

it('a chat is requested as a stream, with the key, and ends at [DONE] whatever follows', async () => {
  let body: unknown;
  await using server = await startHttpServer(async (asked, response, count) => {
    body = await json(asked);
    streams(`: wait\n\n${chunk('a')}data: [DONE]\n\n${chunk('b')}`)(asked, response, count);
  });
  const chunks = await Array.fromAsync(new InferenceClient({ ...server, key: ' sk-1\n' }).chat(request));
  assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content).join(), 'a');
  assert.deepEqual(body, { ...request, stream: true });
  assert.equal(server.requests[0]?.headers.authorization, 'Bearer sk-1');
});

it('a chat that is interrupted rejects with a problem after its text: cut, ended early, or with an error inside', async () => {
  const cut = await failedChat((_request, response) => {
    response.writeHead(200, STREAM).write(chunk('a') + chunk('b').slice(0, -1));
    setTimeout(() => response.socket?.destroy(), 20);
  });
  assert.deepEqual(cut, { text: 'a', status: 0, code: 'network' });
  assert.partialDeepStrictEqual(await failedChat(streams(chunk('a'))), { text: 'a', code: 'network' });
  const error = { message: 'Lost.', type: 'server_error', param: null, code: 'engine_lost' };
  const inside = await failedChat(streams(chunk('a') + data({ error })));
  assert.deepEqual(inside, { text: 'a', status: 200, code: 'engine_lost' });
});

const chunkWith = (part: string) => `{"choices":[{"index":0,"delta":${part}}]}`;
const nonsense = ['nonsense', '[]', '{}', '{"choices":{}}', '{"choices":[null]}', '{"choices":"ab"}'];
for (const odd of [...nonsense, chunkWith('{"tool_calls":7}'), chunkWith('{"content":{"a":1}}')])
  it(`a chat with the chunk ${odd} is a problem`, async () => {
    assert.deepEqual(await failedChat(streams(`data: ${odd}\n\n`)), { text: '', status: 200, code: 'invalid_answer' });
  });

it('a chat ignores impossible indexes', async () => {
  const choices = [4_000_000_000, -1].map((index) => ({ index, delta: {} }));
  await using server = await startHttpServer(streams(`${data({ choices })}data: [DONE]\n\n`));
  const digests: string[] = [];
  const onEnd = ({ answerSha256 }: ChatRecord) => digests.push(answerSha256);
  await Array.fromAsync(new InferenceClient(server).chat(request, { onEnd }));
  // The digest of `[]`.
  assert.deepEqual(digests, ['4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945']);
});

it('a chat that is refused reports the field and when to retry', async () => {
  const code = 'rate_limit_exceeded';
  const error = JSON.stringify({ error: { message: 'Too many.', type: 'requests', param: 'messages', code } });
  const problem = { status: 429, code, param: 'messages', type: 'requests', retryAfterSeconds: 3 };
  assert.deepEqual(await failedChat(sends(error, 429, { 'retry-after': '3' })), { text: '', ...problem });
  for (const body of ['<html>', '{"error":"no"}', '{"error":null}', ''])
    assert.deepEqual(await failedChat(sends(body, 502)), { text: '', status: 502, code: 'invalid_answer' });
});

it('a chat that gets no answer, or no stream, rejects with a problem', async () => {
  const lost = { text: '', status: 0, code: 'network' };
  assert.deepEqual(await failedChat(() => {}, 100), lost);
  assert.equal((await failedChat(sends('{}'))).code, 'invalid_answer');
  assert.deepEqual(await failedChat((_asked, response) => response.writeHead(503).write('{'), 200), lost);
  assert.equal((await failedChat((asked) => asked.socket.destroy())).code, 'network');
});

it('a chat stops at the server when the loop is left or the signal aborts', async () => {
  let closed = Promise.withResolvers<void>();
  await using server = await startHttpServer((asked, response, count) => {
    asked.socket.on('close', () => closed.resolve());
    response.writeHead(200, STREAM).write(chunk(String(count)));
  });
  const client = new InferenceClient(server);
  for await (const _chunk of client.chat(request)) break;
  await closed.promise;
  closed = Promise.withResolvers();
  const stop = new AbortController();
  const chat = client.chat(request, { signal: stop.signal });
  await chat.next();
  const next = chat.next();
  stop.abort(new Error('enough'));
  await assert.rejects(next, /enough/);
  await closed.promise;
});

const eventsOf = async (answering: Answering, options: AnswerOptions = {}) => {
  await using server = await startHttpServer(answering);
  const events: AnswerEvent[] = [];
  try {
    for await (const event of new InferenceClient(server).answer(request, options)) events.push(event);
    return { events, problem: null };
  } catch (error) {
    return { events, problem: error as InferenceProblem };
  }
};

it('an answer is a sequence of events: start, reasoning separate from text, finish reason, usage, record', async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 2 } };
  const stream = [
    delta({ role: 'assistant', content: '' }),
    delta({ reasoning_content: 'hm' }),
    delta({ content: 'another choice' }, { index: 1 }),
    delta({ content: 'Yes' }, { finish_reason: null }),
    delta({}, { finish_reason: 'stop' }),
    data({ choices: [], usage }),
    data({ choices: [], usage: { prompt_tokens: -1, completion_tokens: 'x' } }),
    'data: [DONE]\n\n',
  ].join('');
  const { events, problem } = await eventsOf(streams(stream, { 'x-request-id': 'r1', 'x-receipt-salt': SALT }));
  assert.equal(problem, null);
  const record = events.at(-1)?.kind === 'whole' ? events.pop() : undefined;
  assert.ok(record?.kind === 'whole' && record.record?.receiptId === 'rwr_1');
  const { requestSha256, salt = null } = record.record;
  const body = JSON.stringify({ ...request, stream: true });
  assert.equal(requestSha256, createHmac('sha256', Buffer.from(SALT, 'hex')).update(body).digest('hex'));
  assert.deepEqual(events, [
    { kind: 'begun', receiptId: 'rwr_1', salt, requestId: 'r1', requestSha256 },
    { kind: 'reasoning', text: 'hm' },
    { kind: 'text', text: 'Yes' },
    { kind: 'finished', reason: 'stop' },
    { kind: 'usage', usage: { promptTokens: 3, completionTokens: 5, reasoningTokens: 2 } },
  ]);
});

it('an answer has limits for one event, all events, idle time and total time', async () => {
  const endless: Answering = (_asked, response) => {
    response.writeHead(200, STREAM);
    const timer = setInterval(() => response.write(`: heartbeat\n\n${chunk('ab')}`), 2);
    response.on('close', () => clearInterval(timer));
  };
  const still: Answering = (_asked, response) => response.writeHead(200, STREAM).write(chunk('a'));
  const long = await eventsOf(streams(chunk('x'.repeat(500))), { maxEventChars: 400 });
  assert.deepEqual([long.problem?.code, long.events.length], ['network', 1]);
  const many = await eventsOf(endless, { maxAnswerChars: 500 });
  assert.match(`${many.problem?.code} ${many.problem?.message}`, /^invalid_answer .*longer than 500 characters/);
  const slow = await eventsOf(endless, { totalMs: 50 });
  assert.match(slow.problem?.message ?? '', /not complete after 0\.05 s/);
  const silent = await eventsOf(still, { idleTimeoutMs: 30 });
  assert.match(silent.problem?.message ?? '', /no data received for 0\.03 s/);
});

it('an answer reports the request id of a failure, at the start or in the stream', async () => {
  const error = JSON.stringify({ error: { message: 'Lost.', type: 'server_error', code: 'engine_failed' } });
  for (const [status, body, code] of [
    [200, `data: ${error}\n\n`, 'engine_failed'],
    [200, chunk('a'), 'network'],
    [503, error, 'engine_failed'],
  ] as const) {
    const id = `r-${body.length}`;
    const { problem } = await eventsOf(sends(body, status, { ...STREAM, 'x-request-id': id }));
    assert.deepEqual([problem?.code, problem?.requestId], [code, id]);
    assert.match(problem?.message ?? '', code === 'network' ? /ended before/ : /^Lost\.$/);
  }
});

it('an answer yields nothing after an abort, even if more data has arrived', async () => {
  await using server = await startHttpServer(streams(`${chunk('a')}${chunk('b')}data: [DONE]\n\n`));
  const stop = new AbortController();
  const events = new InferenceClient(server).answer(request, { signal: stop.signal });
  await events.next();
  assert.partialDeepStrictEqual(await events.next(), { value: { kind: 'text', text: 'a' } });
  stop.abort(new Error('enough'));
  await assert.rejects(events.next(), /enough/);
});

it('the lists of the inference service are rejected when they are not lists', async () => {
  for (const body of ['{}', '[]', 'x', '{"data":{}}']) {
    await using server = await startHttpServer(sends(body));
    const problem = await rejectionOf(new InferenceClient(server).models(), InferenceProblem);
    assert.deepEqual([problem.status, problem.code], [200, 'invalid_answer']);
  }
});

it('a free key of the inference service is requested without a body, and an invalid answer is a problem', async () => {
  for (const [status, body, outcome] of [
    [201, '{"key":"sk-1","tier":"free","daily_limit":50}', 'sk-1'],
    [201, '{"key":7}', 'invalid_answer'],
    [429, '{"error":{"code":"rate_limit_exceeded","message":"Enough."}}', 'rate_limit_exceeded'],
  ] as const) {
    await using server = await startHttpServer(sends(body, status, { 'retry-after': '9' }));
    const asked = InferenceClient.createKey(server.baseUrl);
    const made = asked.then(({ key }) => key).catch(({ code }: InferenceProblem) => code);
    assert.equal(await made, outcome);
    assert.deepEqual([server.requests[0]?.method, server.requests[0]?.url], ['POST', '/keys']);
  }
});

it('an invented receipt of the inference service does not match the record, and does not verify', async () => {
  await using server = await startHttpServer(sends('{"request_sha256":"a","answer_sha256":"b"}'));
  const record = { receiptId: 'rwr_1', requestSha256: 'a', answerSha256: 'b' };
  const { verification, matchesRecord: isOfThese } = await new InferenceClient(server).verify(record);
  assert.deepEqual([verification.ok, isOfThese], [false, false]);
});

const text = (value: string): AnswerEvent => ({ kind: 'text', text: value });
const reasoning = (value: string): AnswerEvent => ({ kind: 'reasoning', text: value });
const pieces = { 250: text('A'), 260: text('b'), 300: text('c') };
const stop: AnswerEvent = { kind: 'finished', reason: 'stop' };
for (const [what, events, figures] of [
  ['no event', {}, [null, null, null]],
  ['reasoning is not visible', { 150: reasoning('hm') }, [null, null, null]],
  ['the first token is visible', { 120: reasoning('hm'), 200: text('\n'), ...pieces }, [150, 50, 40]],
  ['one piece has no pauses', { 130: text('all') }, [30, 0, null]],
  ['white space within an answer is text', { 110: text('a'), 150: text(' '), 160: stop }, [10, 40, 40]],
] as [string, Record<number, AnswerEvent>, (number | null)[]][])
  it(`the speed of an answer ${what}`, () => {
    const speed = new AnswerSpeed(100);
    for (const [at, event] of Object.entries(events)) speed.record(event, Number(at));
    const { firstTokenMs, writingMs, pauseMs } = speed.figures();
    assert.deepEqual([firstTokenMs, writingMs, pauseMs], figures);
  });

it('the speed of an answer counts visible tokens per second, and is null where it is unknown', () => {
  const of = (completionTokens: number, reasoningTokens: number | null) => ({ completionTokens, reasoningTokens });
  for (const usage of [of(11, 0), of(11, null), of(111, 100)]) assert.equal(tokensPerSecond(usage, 1_000), 10);
  for (const usage of [null, of(1, 0), of(100, 100), of(10, 20)]) assert.equal(tokensPerSecond(usage, 1_000), null);
  for (const ms of [null, 0]) assert.equal(tokensPerSecond(of(11, 0), ms), null);
});
