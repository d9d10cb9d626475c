// What any gateway does at least: a Node server that reads JSON, sends it on, reads the answer and sends it back. And its upstream.
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reportReady } from '../measure.ts';

const text = Array.from({ length: 16 }, (_, i) => ` word${i}`).join('');
const answer = (model: unknown) =>
  JSON.stringify({
    id: 'chatcmpl-0123456789',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 16, total_tokens: 19 },
  });
const json = { 'content-type': 'application/json' };

async function read(message: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
}

const upstream = createServer((incoming, outgoing) => {
  void read(incoming).then(({ model }) => outgoing.writeHead(200, json).end(answer(model)));
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
        void read(reply).then((answered) => outgoing.writeHead(200, json).end(JSON.stringify(answered)));
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
