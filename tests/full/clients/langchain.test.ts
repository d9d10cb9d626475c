// LangChain: tools, JSON and reasoning, complete and streamed.
import assert from 'node:assert/strict';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { eachFamily } from '../../support/model-families.ts';

const schema = z.object({ city: z.enum(['Bern', 'Oslo']) });
const find = tool(async ({ city }) => `found ${city}`, { name: 'find', description: 'Finds a city.', schema });

eachFamily('LangChain', async ({ model, apiKey, baseURL }) => {
  const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0 });
  const calling = chat.bindTools([find], { tool_choice: 'required', strict: true, parallel_tool_calls: false });
  const question = new HumanMessage('Where?');
  const answer = await calling.invoke([question]);
  const [call] = answer.tool_calls ?? [];
  assert.ok(call?.name === 'find' && schema.parse(call.args));

  const chunks = await Array.fromAsync(await calling.stream([question]));
  const streamed = chunks.reduce((all, chunk) => all.concat(chunk));
  assert.ok(schema.parse(streamed.tool_calls?.[0]?.args));

  const result = await find.invoke({ ...call, type: 'tool_call' });
  assert.ok(result instanceof ToolMessage);
  const asObject = chat.withStructuredOutput(schema, { method: 'jsonSchema', strict: true });
  assert.ok(schema.parse(await asObject.invoke([question, answer, result])));
  const [thoughts, streamedThoughts] = [answer, streamed].map((each) => each.additional_kwargs.reasoning_content);
  return thoughts && streamedThoughts ? String(thoughts) : undefined;
});
