// Chats with servers that break off, stand still or say nonsense; tests/full/clients/client.test.ts has the real gateway.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { type AnswerEvent, type AnswerOptions, InferenceClient, InferenceProblem } from './index.ts';
import { type Answering, rejectionOf, startHttpServer } from './test/http-server.ts';

const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const streams =
  (text: string, isCut = false): Answering =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-receipt-id': 'rwr_1' });
    if (!isCut) return void response.end(text);
    response.write(text);
    setTimeout(() => response.socket?.destroy(), 20);
  };

/** What was written until the chat failed, and why it did. */
async function failedChat(answering: Answering, timeoutMs = 20_000) {
  await using server = await startHttpServer(answering);
  let text = '';
  let ends = 0;
  const reading = (async () => {
    for await (const { choices } of new InferenceClient({ ...server, timeoutMs }).chat(request, {
      onEnd: () => (ends += 1),
    }))
      text += choices[0]?.delta.content ?? '';
  })();
  const problem = await rejectionOf(reading, InferenceProblem);
  assert.equal(ends, 0);
  return { text, problem };
}

describe('a chat', () => {
  it('is asked as a stream, with the key, and ends at [DONE] whatever follows', async () => {
    const bodies: string[] = [];
    await using server = await startHttpServer((asked, response, count) => {
      asked.setEncoding('utf8').on('data', (part: string) => bodies.push(part));
      asked.on('end', () => streams(`: wait\n\n${chunk('a')}data: [DONE]\n\n${chunk('b')}`)(asked, response, count));
    });
    const texts: unknown[] = [];
    for await (const { choices } of new InferenceClient({ ...server, key: ' sk-1\n' }).chat(request))
      texts.push(choices[0]?.delta.content);
    assert.deepEqual(texts, ['a']);
    assert.deepEqual(JSON.parse(bodies.join('')), { ...request, stream: true });
    assert.equal(server.requests[0]?.headers.authorization, 'Bearer sk-1');
  });

  it('that breaks off is a problem after what was written, cut, ended early, or with an error inside', async () => {
    const cut = await failedChat(streams(chunk('a') + chunk('b').slice(0, -1), true));
    assert.deepEqual([cut.text, cut.problem.status, cut.problem.code], ['a', 0, 'network']);
    const early = await failedChat(streams(chunk('a')));
    assert.deepEqual([early.text, early.problem.code], ['a', 'network']);
    const error = { error: { message: 'Lost.', type: 'server_error', param: null, code: 'engine_lost' } };
    const told = await failedChat(streams(`${chunk('a')}data: ${JSON.stringify(error)}\n\n`));
    assert.deepEqual([told.text, told.problem.status, told.problem.code], ['a', 200, 'engine_lost']);
    assert.equal(told.problem.message, 'Lost.');
  });

  const chunkWith = (delta: string) => `{"choices":[{"index":0,"delta":${delta}}]}`;
  const nonsense = ['nonsense', '[]', '{}', '{"choices":{}}', '{"choices":[null]}', '{"choices":"ab"}'];
  nonsense.push(chunkWith('{"tool_calls":7}'), chunkWith('{"content":{"a":1}}'));
  for (const data of nonsense)
    it(`with the chunk ${data} is a problem`, async () => {
      const { problem } = await failedChat(streams(`data: ${data}\n\n`));
      assert.deepEqual([problem.status, problem.code], [200, 'invalid_answer']);
    });

  it('with places out of the world costs nothing', async () => {
    await using server = await startHttpServer(
      streams(`data: {"choices":[{"index":4000000000,"delta":{}},{"index":-1,"delta":{}}]}\n\ndata: [DONE]\n\n`),
    );
    let digest = '';
    const onEnd = ({ answerSha256 }: { answerSha256: string }) => {
      digest = answerSha256;
    };
    for await (const _chunk of new InferenceClient(server).chat(request, { onEnd }));
    // Of the empty list `[]`.
    assert.equal(digest, '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945');
  });

  it('that is refused tells the field and when to come back', async () => {
    const error = { message: 'Too many.', type: 'requests', param: 'messages', code: 'rate_limit_exceeded' };
    const { problem } = await failedChat((_request, response) =>
      response.writeHead(429, { 'retry-after': '3' }).end(JSON.stringify({ error })),
    );
    assert.deepEqual([problem.status, problem.code, problem.param], [429, 'rate_limit_exceeded', 'messages']);
    assert.deepEqual([problem.type, problem.retryAfterSeconds], ['requests', 3]);
    for (const body of ['<html>', '{"error":"no"}', '{"error":null}', '']) {
      const odd = await failedChat((_request, response) => response.writeHead(502).end(body));
      assert.deepEqual([odd.problem.status, odd.problem.code], [502, 'invalid_answer']);
    }
  });

  it('that is never answered, or not with a stream, is a problem', async () => {
    const never = await failedChat(() => {}, 100);
    assert.deepEqual([never.problem.status, never.problem.code], [0, 'network']);
    const whole = await failedChat((_request, response) => response.writeHead(200).end('{}'));
    assert.equal(whole.problem.code, 'invalid_answer');
    const half = await failedChat((_asked, response) => response.writeHead(503).write('{'), 200);
    assert.deepEqual([half.problem.status, half.problem.code], [0, 'network']);
    const gone = await failedChat((asked) => asked.socket.destroy());
    assert.equal(gone.problem.code, 'network');
  });

  it('stops at the server when the loop is left or the signal aborts', async () => {
    let closed = Promise.withResolvers<void>();
    await using server = await startHttpServer((asked, response, count) => {
      asked.socket.on('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk(String(count)));
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
});

describe('an answer', () => {
  const delta = (part: object, more: object = {}) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: part, ...more }] })}\n\n`;
  const eventsOf = async (answering: Answering, options: AnswerOptions = {}) => {
    await using server = await startHttpServer(answering);
    const events: AnswerEvent[] = [];
    const reading = (async () => {
      for await (const event of new InferenceClient(server).answer(request, options)) events.push(event);
    })();
    const problem = await reading.then(() => null).catch((error: unknown) => error as InferenceProblem);
    return { events, problem };
  };

  it('is told as it comes: begun, reasoning apart from text, why it ended, what it counted, its record', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 2 } };
    const stream = [
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'hm' }),
      `data: {"choices":[{"index":1,"delta":{"content":"another choice"}}]}\n\n`,
      delta({ content: 'Yes' }, { finish_reason: null }),
      delta({}, { finish_reason: 'stop' }),
      `data: ${JSON.stringify({ choices: [], usage })}\n\n`,
      `data: {"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":"x"}}\n\n`,
      'data: [DONE]\n\n',
    ].join('');
    const { events, problem } = await eventsOf((_asked, response) => {
      const headers = { 'content-type': 'text/event-stream', 'x-receipt-id': 'rwr_1', 'x-request-id': 'r1' };
      response.writeHead(200, headers).end(stream);
    });
    assert.equal(problem, null);
    const record = events.at(-1)?.kind === 'whole' ? events.pop() : undefined;
    assert.ok(record?.kind === 'whole' && record.record?.receiptId === 'rwr_1');
    const { requestSha256 } = record.record;
    const body = JSON.stringify({ ...request, stream: true });
    assert.equal(requestSha256, createHash('sha256').update(body).digest('hex'));
    assert.deepEqual(events, [
      { kind: 'begun', receiptId: 'rwr_1', requestId: 'r1', requestSha256 },
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'Yes' },
      { kind: 'finished', reason: 'stop' },
      { kind: 'usage', usage: { promptTokens: 3, completionTokens: 5, reasoningTokens: 2 } },
    ]);
  });

  it('is bounded in one event, in all of them, in silence and in time', async () => {
    const endless: Answering = (_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => response.write(`: heartbeat\n\n${chunk('ab')}`), 2);
      response.on('close', () => clearInterval(timer));
    };
    const long = await eventsOf(streams(chunk('x'.repeat(500))), { maxEventChars: 400 });
    assert.deepEqual([long.problem?.code, long.events.length], ['network', 1]);
    const many = await eventsOf(endless, { maxAnswerChars: 500 });
    assert.match(many.problem?.message ?? '', /longer than 500 characters/);
    assert.equal(many.problem?.code, 'invalid_answer');
    const slow = await eventsOf(endless, { totalMs: 50 });
    assert.match(slow.problem?.message ?? '', /not over after 0\.05 s/);
    const still = (_asked: unknown, response: ServerResponse) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk('a'));
    const silent = await eventsOf(still, { silentMs: 30 });
    assert.match(silent.problem?.message ?? '', /nothing came for 0\.03 s/);
  });

  it('tells the request by which a failure is found, refused or midway', async () => {
    const error = JSON.stringify({ error: { message: 'Lost.', type: 'server_error', code: 'engine_failed' } });
    for (const [status, body, code] of [
      [200, `data: ${error}\n\n`, 'engine_failed'],
      [200, chunk('a'), 'network'],
      [503, error, 'engine_failed'],
    ] as const) {
      const headers = { 'content-type': 'text/event-stream', 'x-request-id': `r-${body.length}` };
      const { problem } = await eventsOf((_asked, response) => response.writeHead(status, headers).end(body));
      assert.deepEqual([problem?.code, problem?.requestId], [code, headers['x-request-id']]);
    }
  });

  it('gives nothing more after an abort, though more had come', async () => {
    await using server = await startHttpServer(streams(`${chunk('a')}${chunk('b')}data: [DONE]\n\n`));
    const stop = new AbortController();
    const texts: string[] = [];
    const reading = (async () => {
      for await (const event of new InferenceClient(server).answer(request, { signal: stop.signal })) {
        if (event.kind !== 'text') continue;
        texts.push(event.text);
        stop.abort(new Error('enough'));
      }
    })();
    await assert.rejects(reading, /enough/);
    assert.deepEqual(texts, ['a']);
  });
});

describe('the lists of the inference service', () => {
  it('are refused when they are none', async () => {
    for (const body of ['{}', '[]', 'x', '{"data":{}}']) {
      await using server = await startHttpServer((_request, response) => response.end(body));
      const problem = await rejectionOf(new InferenceClient(server).models(), InferenceProblem);
      assert.deepEqual([problem.status, problem.code], [200, 'invalid_answer']);
    }
  });

  it('a free key is asked for without a body, and what is no key is a problem', async () => {
    for (const [status, body, outcome] of [
      [201, '{"key":"sk-1","tier":"free","daily_limit":50}', 'sk-1'],
      [201, '{"key":7}', 'invalid_answer'],
      [429, '{"error":{"code":"rate_limit_exceeded","message":"Enough."}}', 'rate_limit_exceeded'],
    ] as const) {
      await using server = await startHttpServer((_request, response) =>
        response.writeHead(status, { 'retry-after': '9' }).end(body),
      );
      const asked = InferenceClient.createKey(server.baseUrl);
      if (status === 201 && outcome === 'sk-1') assert.equal((await asked).key, outcome);
      else assert.equal((await rejectionOf(asked, InferenceProblem)).code, outcome);
      assert.deepEqual([server.requests[0]?.method, server.requests[0]?.url], ['POST', '/keys']);
    }
  });

  it('a receipt that the service makes up is not of these words, and does not verify', async () => {
    await using server = await startHttpServer((_request, response) =>
      response.end('{"request_sha256":"a","answer_sha256":"b"}'),
    );
    const record = { receiptId: 'rwr_1', requestSha256: 'a', answerSha256: 'b' };
    const { verification, isOfThese } = await new InferenceClient(server).verify(record);
    assert.deepEqual([verification.ok, isOfThese], [false, false]);
  });
});
