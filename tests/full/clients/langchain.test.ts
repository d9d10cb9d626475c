// LangChain: tools, JSON and reasoning, complete and streamed.
import assert from 'node:assert/strict';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { eachFamily } from '../../support/model-families.ts';

const schema = z.object({ city: z.enum(['Bern', 'Oslo']) });
const find = tool(async ({ city }) => `found ${city}`, { name: 'find', description: 'Finds a city.', schema });

for (const useResponsesApi of [true, false])
  eachFamily(`LangChain in ${useResponsesApi ? 'responses' : 'chat completions'}`, async (options, passed) => {
    const { model, apiKey, baseURL } = options;
    // In responses it reads only summaries. It sends its own option `reasoning` only for models of OpenAI's names, and no
    // `tool_choice: required`.
    const modelKwargs = useResponsesApi ? { reasoning: { summary: 'auto' } } : {};
    const shared = { model, apiKey, configuration: { baseURL }, maxRetries: 0, useResponsesApi };
    const chat = new ChatOpenAI({ ...shared, modelKwargs });
    const tool_choice = useResponsesApi ? 'find' : 'required';
    const calling = chat.bindTools([find], { tool_choice, strict: true, parallel_tool_calls: false });
    const question = new HumanMessage('Where?');
    const answer = await calling.invoke([question]);
    const [call] = answer.tool_calls ?? [];
    assert.ok(call?.name === 'find' && schema.parse(call.args));

    const chunks = await Array.fromAsync(await calling.stream([question]));
    const streamed = chunks.reduce((all, chunk) => all.concat(chunk));
    assert.ok(schema.parse(streamed.tool_calls?.[0]?.args));
    passed('streaming');

    const result = await find.invoke({ ...call, type: 'tool_call' });
    assert.ok(result instanceof ToolMessage);
    const asObject = chat.withStructuredOutput(schema, { method: 'jsonSchema', strict: true });
    assert.ok(schema.parse(await asObject.invoke([question, answer, result])));
    passed('tools');
    passed('schema');
    const [thoughts, streamedThoughts] = [answer, streamed].map((each) =>
      useResponsesApi
        ? each.contentBlocks.flatMap((block) => (block.type === 'reasoning' ? [block.reasoning] : [])).join('')
        : each.additional_kwargs.reasoning_content,
    );
    return thoughts && streamedThoughts ? String(thoughts) : undefined;
  });
