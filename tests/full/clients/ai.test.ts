// The AI SDK: tools, JSON and reasoning, complete and streamed.
import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, Output, streamText, tool } from 'ai';
import { z } from 'zod';
import { eachFamily } from '../../support/model-families.ts';

const inputSchema = z.object({ city: z.enum(['Bern', 'Oslo']) });
const FOUND = /^found (Bern|Oslo)$/;

eachFamily('the AI SDK', async ({ model: name, ...options }, passed) => {
  const provider = createOpenAICompatible({ ...options, name: 'strata', supportsStructuredOutputs: true });
  const asked = { model: provider(name) };
  const find = tool({ inputSchema, strict: true, execute: async ({ city }) => `found ${city}` });
  const calling = { ...asked, prompt: 'Where?', tools: { find }, toolChoice: 'required' as const };
  const { toolResults, reasoningText, response } = await generateText(calling);
  assert.match(String(toolResults[0]?.output), FOUND);
  passed('tools');

  const parts = await Array.fromAsync(streamText(calling).fullStream);
  const streamed = parts.find((part) => part.type === 'tool-result');
  assert.match(String(streamed?.output), FOUND);
  passed('streaming');
  const thoughts = parts.map((part) => (part.type === 'reasoning-delta' ? part.text : '')).join('');

  const messages = [{ role: 'user' as const, content: 'Where?' }, ...response.messages];
  const { output } = await generateText({ ...asked, messages, output: Output.object({ schema: inputSchema }) });
  assert.ok(inputSchema.parse(output));
  passed('schema');
  return reasoningText && thoughts;
});
