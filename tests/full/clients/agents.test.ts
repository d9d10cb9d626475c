// OpenAI's Agents SDK, in chat completions and responses: a streamed run calls a tool, and ends with JSON.
import assert from 'node:assert/strict';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { z } from 'zod';
import { eachFamily } from '../../support/model-families.ts';

const outputType = z.object({ city: z.enum(['Bern', 'Oslo']) });

for (const useResponses of [true, false])
  eachFamily(
    `the Agents SDK in ${useResponses ? 'responses' : 'chat completions'}`,
    async ({ model, ...options }, passed) => {
      const calls: unknown[] = [];
      const execute = async (input: unknown) => {
        calls.push(outputType.parse(input));
        return 'found';
      };
      const find = tool({ name: 'find', description: 'Finds a city.', parameters: outputType, execute });
      const modelSettings = { toolChoice: 'required', parallelToolCalls: false } as const;
      const named = { name: 'finder', instructions: 'Find it.' };
      const agent = new Agent({ ...named, model, modelSettings, tools: [find], outputType });
      const modelProvider = new OpenAIProvider({ ...options, useResponses });
      const runner = new Runner({ modelProvider, tracingDisabled: true });
      const run = await runner.run(agent, 'Where?', { stream: true, maxTurns: 40 });
      const events = await Array.fromAsync(run);
      assert.ok(outputType.parse(run.finalOutput) && calls.length > 0);
      passed('schema');
      const kinds = events.flatMap((event) => (event.type === 'run_item_stream_event' ? [event.name] : []));
      assert.ok(kinds.includes('tool_called') && kinds.includes('tool_output'));
      passed('tools');
      passed('streaming');
      const reasoning = run.newItems.find(({ type }) => type === 'reasoning_item');
      return reasoning && JSON.stringify(reasoning);
    },
  );
