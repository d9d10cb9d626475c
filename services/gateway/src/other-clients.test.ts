// Other clients, unchanged: the Vercel AI SDK, LangChain, curl, and a scanner of compatibility.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embed, generateText, jsonSchema, Output, streamText, tool } from 'ai';
import { type Harness, MODEL } from './test/harness.ts';
import { MESSAGES, sharedGateway } from './test/shared.ts';

const question = 'What is DMARC?';
const answer = /^DMARC tells receivers what to do with mail/;
const weather = {
  type: 'object' as const,
  properties: { city: { enum: ['Bern', 'Oslo'] } },
  required: ['city'],
  additionalProperties: false,
};
let service: Harness;
const useSharedGateway = () =>
  before(async () => {
    service = await sharedGateway();
  });

describe('the AI SDK', () => {
  useSharedGateway();
  const provider = () =>
    createOpenAICompatible({
      ...{ name: 'strata', baseURL: `${service.base}/v1`, apiKey: service.key },
      ...{ includeUsage: true, supportsStructuredOutputs: true },
    });

  it('generates, streams, embeds', async () => {
    const asked = { model: provider()(MODEL), prompt: question, temperature: 0 };
    const { text, usage, finishReason } = await generateText(asked);
    assert.match(text, answer);
    assert.equal(finishReason, 'stop');
    assert.ok((usage.outputTokens ?? 0) > 10);
    const stream = streamText(asked);
    assert.equal((await Array.fromAsync(stream.textStream)).join(''), text);
    assert.equal((await stream.usage).outputTokens, usage.outputTokens);
    const { embedding } = await embed({ model: provider().embeddingModel(MODEL), value: question });
    assert.equal(embedding.length, 192);
  });

  it('calls tools and reads objects', async () => {
    const model = provider()(MODEL);
    const schema = jsonSchema<{ city: string }>(weather);
    const look = tool({ inputSchema: schema, execute: async ({ city }) => `sun in ${city}` });
    const called = await generateText({ model, prompt: question, tools: { look }, toolChoice: 'required' });
    assert.deepEqual(
      called.toolCalls.map(({ toolName }) => toolName),
      ['look'],
    );
    assert.match(String(called.toolResults[0]?.output), /^sun in (Bern|Oslo)$/);
    const { output } = await generateText({ model, prompt: question, output: Output.object({ schema }) });
    assert.ok(['Bern', 'Oslo'].includes(output.city));
  });
});

describe('LangChain', () => {
  useSharedGateway();
  const settings = () => ({ model: MODEL, apiKey: service.key, configuration: { baseURL: `${service.base}/v1` } });
  /** Its types omit this field. */
  const outputTokens = (message: object): number =>
    (message as { usage_metadata?: { output_tokens: number } }).usage_metadata?.output_tokens ?? 0;

  it('invokes, streams with usage, embeds', async () => {
    const chat = new ChatOpenAI({ ...settings(), temperature: 0 });
    const message = await chat.invoke(question);
    assert.match(String(message.content), answer);
    const chunks = await Array.fromAsync(await chat.stream(question));
    assert.equal(chunks.map(({ content }) => String(content)).join(''), message.content);
    assert.equal(
      chunks.reduce((sum, chunk) => sum + outputTokens(chunk), 0),
      outputTokens(message),
    );
    assert.equal((await new OpenAIEmbeddings(settings()).embedQuery(question)).length, 192);
  });

  it('calls tools', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: weather } }];
    const chat = new ChatOpenAI(settings()).bindTools(tools, { tool_choice: 'look' });
    const [call] = (await chat.invoke(question)).tool_calls ?? [];
    assert.equal(call?.name, 'look');
    assert.ok(['Bern', 'Oslo'].includes(call?.args.city));
  });
});

describe('curl', { skip: spawnSync('curl', ['--version']).error ? 'curl is not installed' : false }, () => {
  useSharedGateway();
  it('gets an answer and a stream', async () => {
    const curl = async (more: object) => {
      const data = JSON.stringify({ model: MODEL, messages: MESSAGES, temperature: 0, ...more });
      const headers = ['-H', `Authorization: Bearer ${service.key}`, '-H', 'Content-Type: application/json'];
      const args = ['-sN', ...headers, `${service.base}/v1/chat/completions`, '-d', data];
      return (await promisify(execFile)('curl', args)).stdout;
    };
    assert.match(JSON.parse(await curl({})).choices[0].message.content, answer);
    assert.match(await curl({ stream: true }), /^data: \{.*\n\ndata: \[DONE\]\n\n$/s);
  });
});

describe('CompatCanary', () => {
  useSharedGateway();
  it('finds no fault by its modern profile', async () => {
    const scanner = path.join(path.dirname(fileURLToPath(import.meta.resolve('compatcanary'))), 'cli.js');
    const args = `scan --base-url ${service.base}/v1 --model ${MODEL} --profile modern --format json --fail-on never`;
    const { stdout } = await promisify(execFile)(process.execPath, [scanner, ...args.split(' ')], {
      env: { ...process.env, OPENAI_API_KEY: service.key },
    });
    const { results } = JSON.parse(stdout) as { results: { id: string; status: string; summary: string }[] };
    assert.ok(results.length >= 7);
    const faults = results.filter(({ status }) => status !== 'pass').map(({ id, summary }) => `${id}: ${summary}`);
    assert.deepEqual(faults, []);
  });
});
