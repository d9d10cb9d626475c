// Clients of others, unchanged: the Vercel AI SDK, LangChain, curl, and a scanner of compatibility.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embed, generateText, jsonSchema, Output, streamText, tool } from 'ai';
import { type Harness, MODEL, startHarness } from './test/harness.ts';

let service: Harness;
before(async () => {
  service = await startHarness();
});
after(() => service?.[Symbol.asyncDispose]());

const question = 'What is DMARC?';
const answer = /^DMARC tells receivers what to do with mail/;
const weather = {
  type: 'object' as const,
  properties: { city: { enum: ['Bern', 'Oslo'] } },
  required: ['city'],
  additionalProperties: false,
};

describe('the AI SDK', () => {
  const model = () =>
    createOpenAICompatible({
      name: 'strata',
      baseURL: `${service.base}/v1`,
      apiKey: service.key,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });

  it('generates, streams, embeds', async () => {
    const { text, usage, finishReason } = await generateText({
      model: model()(MODEL),
      prompt: question,
      temperature: 0,
    });
    assert.match(text, answer);
    assert.equal(finishReason, 'stop');
    assert.ok((usage.outputTokens ?? 0) > 10);
    const stream = streamText({ model: model()(MODEL), prompt: question, temperature: 0 });
    assert.equal((await Array.fromAsync(stream.textStream)).join(''), text);
    assert.equal((await stream.usage).outputTokens, usage.outputTokens);
    const { embedding } = await embed({ model: model().embeddingModel(MODEL), value: question });
    assert.equal(embedding.length, 192);
  });

  it('calls tools and reads objects', async () => {
    const look = tool({
      description: 'The weather',
      inputSchema: jsonSchema<{ city: string }>(weather),
      execute: async ({ city }) => `sun in ${city}`,
    });
    const { toolCalls, toolResults } = await generateText({
      model: model()(MODEL),
      prompt: question,
      tools: { look },
      toolChoice: 'required',
    });
    assert.deepEqual(
      toolCalls.map(({ toolName }) => toolName),
      ['look'],
    );
    assert.match(String(toolResults[0]?.output), /^sun in (Bern|Oslo)$/);
    const { output } = await generateText({
      model: model()(MODEL),
      prompt: question,
      output: Output.object({ schema: jsonSchema<{ city: string }>(weather) }),
    });
    assert.ok(['Bern', 'Oslo'].includes(output.city));
  });
});

/** Its types leave this open. */
const outputTokens = (message: object): number =>
  (message as { usage_metadata?: { output_tokens: number } }).usage_metadata?.output_tokens ?? 0;

describe('LangChain', () => {
  const settings = () => ({ model: MODEL, apiKey: service.key, configuration: { baseURL: `${service.base}/v1` } });

  it('invokes, streams with usage, embeds', async () => {
    const chat = new ChatOpenAI({ ...settings(), temperature: 0 });
    const message = await chat.invoke(question);
    assert.match(String(message.content), answer);
    let text = '';
    let tokens = 0;
    for await (const chunk of await chat.stream(question)) {
      text += String(chunk.content);
      tokens += outputTokens(chunk);
    }
    assert.equal(text, message.content);
    assert.equal(tokens, outputTokens(message));
    const embeddings = new OpenAIEmbeddings(settings());
    assert.equal((await embeddings.embedQuery(question)).length, 192);
  });

  it('calls tools', async () => {
    const chat = new ChatOpenAI(settings()).bindTools(
      [{ type: 'function', function: { name: 'look', parameters: weather } }],
      { tool_choice: 'look' },
    );
    const { tool_calls } = await chat.invoke(question);
    assert.equal(tool_calls?.[0]?.name, 'look');
    assert.ok(['Bern', 'Oslo'].includes(tool_calls?.[0]?.args.city));
  });
});

describe('curl', { skip: spawnSync('curl', ['--version']).error ? 'curl is not installed' : false }, () => {
  it('gets an answer and a stream', async () => {
    const body = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: question }], temperature: 0 });
    const curl = async (data: string) => {
      const headers = ['-H', `Authorization: Bearer ${service.key}`, '-H', 'Content-Type: application/json'];
      return (await promisify(execFile)('curl', ['-sN', ...headers, `${service.base}/v1/chat/completions`, '-d', data]))
        .stdout;
    };
    assert.match(JSON.parse(await curl(body)).choices[0].message.content, answer);
    assert.match(await curl(body.replace('{', '{"stream":true,')), /^data: \{.*\n\ndata: \[DONE\]\n\n$/s);
  });
});

describe('CompatCanary', () => {
  it('finds nothing amiss in its modern profile', async () => {
    const scanner = path.join(path.dirname(fileURLToPath(import.meta.resolve('compatcanary'))), 'cli.js');
    const options = [
      'scan',
      '--base-url',
      `${service.base}/v1`,
      '--model',
      MODEL,
      '--profile',
      'modern',
      '--format',
      'json',
      '--fail-on',
      'never',
    ];
    const { stdout } = await promisify(execFile)(process.execPath, [scanner, ...options], {
      env: { ...process.env, OPENAI_API_KEY: service.key },
    });
    const { results } = JSON.parse(stdout) as {
      readonly results: readonly { readonly id: string; readonly status: string; readonly summary: string }[];
    };
    assert.ok(results.length >= 7);
    assert.deepEqual(
      results.filter(({ status }) => status !== 'pass').map(({ id, summary }) => `${id}: ${summary}`),
      [],
    );
  });
});
