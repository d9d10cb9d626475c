// OpenAI's client: tools, JSON and reasoning, complete and streamed, in chat completions and responses.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { eachFamily } from '../../support/model-families.ts';

const city = z.object({ city: z.enum(['Bern', 'Oslo']) });
const parameters = z.toJSONSchema(city);
const find = { name: 'find', description: 'Finds a city.', strict: true, parameters };
const question = { role: 'user', content: 'Where?' } as const;
const isCity = (text: string | undefined) => city.parse(JSON.parse(text ?? ''));
type Reasoned = { readonly reasoning_content?: string };

eachFamily('chat completions', async ({ model, ...options }, passed) => {
  const client = new OpenAI(options);
  const asked = { model, messages: [question], parallel_tool_calls: false };
  const tools = [{ type: 'function' as const, function: find }];
  const calling = { ...asked, tools, tool_choice: 'required' as const };
  const { message } = (await client.chat.completions.create(calling)).choices[0] ?? assert.fail();
  const [call] = message.tool_calls ?? [];
  assert.ok(call?.type === 'function' && isCity(call.function.arguments));
  const { reasoning_content: reasoning } = message as Reasoned;

  const stream = client.chat.completions.stream(calling);
  let thoughts = '';
  for await (const { choices } of stream) thoughts += (choices[0]?.delta as Reasoned)?.reasoning_content ?? '';
  const [streamed] = (await stream.finalChatCompletion()).choices[0]?.message.tool_calls ?? [];
  assert.ok(streamed?.type === 'function' && isCity(streamed.function.arguments));
  passed('streaming');

  const result = { role: 'tool' as const, tool_call_id: call.id, content: 'found' };
  const next = await client.chat.completions.create({ ...asked, tools, messages: [question, message, result] });
  for (const each of next.choices[0]?.message.tool_calls ?? [])
    assert.ok(each.type === 'function' && isCity(each.function.arguments));
  passed('tools');
  const response_format = zodResponseFormat(city, 'city');
  const parsed = await client.chat.completions.parse({ ...asked, response_format });
  assert.ok(parsed.choices[0]?.message.parsed?.city);
  passed('schema');
  return reasoning && thoughts;
});

eachFamily('responses', async ({ model, ...options }, passed) => {
  const client = new OpenAI(options);
  const tools = [{ type: 'function' as const, ...find }];
  const asked = { model, tools, tool_choice: 'required' as const, parallel_tool_calls: false };
  const { output } = await client.responses
    .stream({ ...asked, input: 'Where?', reasoning: { summary: 'auto' } })
    .finalResponse();
  const call = output.find((each) => each.type === 'function_call') ?? assert.fail();
  isCity(call.arguments);
  passed('streaming');
  const result = { type: 'function_call_output' as const, call_id: call.call_id, output: 'found' };
  const input = [question, ...output.map(({ ...each }) => each), result] as OpenAI.Responses.ResponseInput;
  const format = { type: 'json_schema' as const, name: 'city', schema: parameters, strict: true };
  isCity((await client.responses.create({ model, input, text: { format } })).output_text);
  passed('tools');
  passed('schema');
  const { content, summary } = output.find((each) => each.type === 'reasoning') ?? {};
  assert.equal(summary?.[0]?.text, content?.[0]?.text);
  return content?.[0]?.text;
});
