// An OpenAI-style upstream that answers at once, and the least that any gateway in front of it does: a Node server that
// reads JSON, sends it on, and sends back the answer: parsed, or a stream as it arrives.
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reportReady } from '../measure.ts';

const words = Array.from({ length: 16 }, (_, i) => ` word${i}`);
const usage = { prompt_tokens: 3, completion_tokens: 16, total_tokens: 19 };
const answer = (model: unknown) =>
  JSON.stringify({
    id: 'chatcmpl-0123456789',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      { index: 0, message: { role: 'assistant', content: words.join('') }, logprobs: null, finish_reason: 'stop' },
    ],
    usage,
  });
/** Each token is an event, and sent as one. */
function* events(model: unknown): Generator<string> {
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-0123456789', object: 'chat.completion.chunk', created: 1, model, ...more })}\n\n`;
  const delta = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  yield chunk(delta({ role: 'assistant', content: '' }));
  for (const content of words) yield chunk(delta({ content }));
  yield chunk(delta({}, 'stop'));
  yield chunk({ choices: [], usage });
  yield 'data: [DONE]\n\n';
}
const json = { 'content-type': 'application/json' };

const eventStream = { 'content-type': 'text/event-stream' };

async function read(message: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
}

const upstream = createServer((incoming, outgoing) => {
  // The list of its models.
  if (incoming.method === 'GET') {
    outgoing.writeHead(200, json).end('{"object":"list","data":[{"id":"instant"}]}');
    return;
  }
  void read(incoming).then(({ model, stream }) => {
    outgoing.writeHead(200, stream ? eventStream : json);
    if (stream) for (const event of events(model)) outgoing.write(event);
    outgoing.end(stream ? undefined : answer(model));
  });
});
// A kept connection would otherwise be closed between two loads, and a request on it would fail.
upstream.keepAliveTimeout = 0;
upstream.listen(0, '127.0.0.1');
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const proxy = createServer((incoming, outgoing) => {
  void read(incoming).then((body) => {
    const { port } = upstream.address() as AddressInfo;
    const onward = request(
      { host: '127.0.0.1', port, agent, method: 'POST', path: incoming.url, headers: json },
      (reply) => {
        if (body.stream) reply.pipe(outgoing.writeHead(200, eventStream));
        else void read(reply).then((answered) => outgoing.writeHead(200, json).end(JSON.stringify(answered)));
      },
    );
    onward.end(JSON.stringify(body));
  });
});
proxy.listen(0, '127.0.0.1', () => {
  const address = (server: typeof proxy) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  reportReady({ base: address(proxy), upstream: address(upstream) }, async () => {
    proxy.close();
    upstream.close();
    agent.destroy();
  });
});
