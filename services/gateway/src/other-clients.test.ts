// Other clients, unchanged: the Vercel AI SDK, LangChain, and a scanner of compatibility.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embed, generateText, jsonSchema, Output, streamText, tool } from 'ai';
import { type Harness, MODEL } from './test/harness.ts';
import { sharedGateway } from './test/shared.ts';

const question = 'What is DMARC?';
const answer = /^DMARC tells receivers what to do with mail/;
const city = { enum: ['Bern', 'Oslo'] };
const weather = { type: 'object' as const, properties: { city }, required: ['city'], additionalProperties: false };

describe('another client', () => {
  let service: Harness;
  let baseURL: string;
  before(async () => {
    service = await sharedGateway();
    baseURL = `${service.base}/v1`;
  });

  it('may be the AI SDK: text, streams, vectors, tools, objects', async () => {
    const options = { name: 'strata', baseURL, apiKey: service.key, includeUsage: true };
    const provider = createOpenAICompatible({ ...options, supportsStructuredOutputs: true });
    const asked = { model: provider(MODEL), prompt: question };
    const { text, usage, finishReason } = await generateText({ ...asked, temperature: 0 });
    assert.match(text, answer);
    assert.equal(finishReason, 'stop');
    assert.ok((usage.outputTokens ?? 0) > 10);
    const stream = streamText({ ...asked, temperature: 0 });
    assert.equal((await Array.fromAsync(stream.textStream)).join(''), text);
    assert.equal((await stream.usage).outputTokens, usage.outputTokens);
    const { embedding } = await embed({ model: provider.embeddingModel(MODEL), value: question });
    assert.equal(embedding.length, 192);
    const schema = jsonSchema<{ city: string }>(weather);
    const look = tool({ inputSchema: schema, execute: async (input) => `sun in ${input.city}` });
    const { toolResults } = await generateText({ ...asked, tools: { look }, toolChoice: 'required' });
    assert.match(toolResults.map(({ output }) => String(output)).join(), /^sun in (Bern|Oslo)$/);
    const { output } = await generateText({ ...asked, output: Output.object({ schema }) });
    assert.ok(city.enum.includes(output.city));
  });

  it('may be LangChain: text, streams with usage, vectors, tools', async () => {
    const settings = { model: MODEL, apiKey: service.key, configuration: { baseURL } };
    /** The types of the library omit this field. */
    const outputTokens = (message: object): number =>
      (message as { usage_metadata?: { output_tokens: number } }).usage_metadata?.output_tokens ?? 0;
    const chat = new ChatOpenAI({ ...settings, temperature: 0 });
    const message = await chat.invoke(question);
    assert.match(String(message.content), answer);
    const chunks = await Array.fromAsync(await chat.stream(question));
    assert.equal(chunks.map(({ content }) => String(content)).join(''), message.content);
    const streamed = chunks.reduce((sum, chunk) => sum + outputTokens(chunk), 0);
    assert.equal(streamed, outputTokens(message));
    assert.equal((await new OpenAIEmbeddings(settings).embedQuery(question)).length, 192);
    const tools = [{ type: 'function', function: { name: 'look', parameters: weather } }];
    const [call] = (await chat.bindTools(tools, { tool_choice: 'look' }).invoke(question)).tool_calls ?? [];
    assert.ok(call?.name === 'look' && city.enum.includes(call.args.city));
  });

  it('may be CompatCanary, which finds no fault by its modern profile', async () => {
    const scanner = path.join(path.dirname(fileURLToPath(import.meta.resolve('compatcanary'))), 'cli.js');
    const args = `scan --base-url ${baseURL} --model ${MODEL} --profile modern --format json --fail-on never`;
    const env = { ...process.env, OPENAI_API_KEY: service.key };
    const { stdout } = await promisify(execFile)(process.execPath, [scanner, ...args.split(' ')], { env });
    const { results } = JSON.parse(stdout) as { results: { id: string; status: string; summary: string }[] };
    assert.ok(results.length >= 7);
    const faults = results.filter(({ status }) => status !== 'pass').map(({ id, summary }) => `${id}: ${summary}`);
    assert.deepEqual(faults, []);
  });
});
