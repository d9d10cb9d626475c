// The least that a server of a model does: a Node server that writes each token of an engine as an event, and nothing else.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startLlamaEngine } from '@strata/engine';
import { GREEDY } from '@strata/inference';
import { childArgument, reportReady } from '../measure.ts';

interface Asked {
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly end: number;
}

const { file, slots, processes } = childArgument<{ file: string; slots: number; processes: number }>();
const engine = await startLlamaEngine({ file, slots, processes, threads: 1, gpu: false });
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { prompt, maxTokens, end } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Asked;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const sampling = { ...GREEDY, logitBias: new Map([[end, -100]]) };
  const job = { prompt, given: [], replay: 'exact', maxTokens, sampling } as const;
  let count = 0;
  for await (const event of engine.generate(job, new AbortController().signal)) {
    if (event.kind !== 'token') continue;
    count += 1;
    const content = Buffer.from(event.bytes).toString('utf8');
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
  }
  response.end(`data: {"usage":{"completion_tokens":${count}}}\n\ndata: [DONE]\n\n`);
});
server.listen(0, '127.0.0.1', () => {
  reportReady({ base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, async () => {
    server.close();
    await engine[Symbol.asyncDispose]();
  });
});
