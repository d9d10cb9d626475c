// Models of three families with the vocabulary and the template of each, and random weights: what they write is
// random, but in real tokens of llama.cpp, and a bias makes them end their reasoning and call tools.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ModelFamily, randomModel } from '@strata/testnet';
import { startHarness } from '../../services/gateway/src/test/harness.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const qwen3: ModelFamily = {
  ...{ controls: ['<|im_start|>', '<|im_end|>', '<|endoftext|>'], end: '<|im_end|>' },
  added: ['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<think>', '</think>'],
  template: `{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}Write calls in <tool_call></tool_call>.<|im_end|>
{% endif %}{% for message in messages %}<|im_start|>{{ 'user' if message.role == 'tool' else message.role }}
{% if message.reasoning_content %}<think>
{{ message.reasoning_content }}
</think>

{% endif %}{% if message.role == 'tool' %}<tool_response>
{{ message.content }}
</tool_response>{% else %}{{ message.content or '' }}{% endif %}{% for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
<think>
{% endif %}`,
};

const mistral: ModelFamily = {
  controls: [
    ...['<s>', '</s>', '[INST]', '[/INST]', '[AVAILABLE_TOOLS]', '[/AVAILABLE_TOOLS]', '[TOOL_RESULTS]'],
    ...['[/TOOL_RESULTS]', '[TOOL_CALLS]', '[ARGS]', '[CALL_ID]', '[THINK]', '[/THINK]', '[SYSTEM_PROMPT]'],
  ],
  end: '</s>',
  template: `{{ bos_token }}{% if tools %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif -%}
{% for message in messages %}{% if message.role == 'assistant' %}{% if message.reasoning_content -%}
[THINK]{{ message.reasoning_content }}[/THINK]{% endif %}{{ message.content or '' }}{% for call in message.tool_calls or [] -%}
[TOOL_CALLS]{{ call.function.name }}[ARGS]{{ call.function.arguments | tojson }}{% endfor %}{{ eos_token }}
{%- elif message.role == 'tool' %}[TOOL_RESULTS]{{ message.content }}[/TOOL_RESULTS]
{%- else %}[INST]{{ message.content }}[/INST]{% endif %}{% endfor %}`,
};

const harmony: ModelFamily = {
  controls: [
    ...['<|startoftext|>', '<|endoftext|>', '<|return|>', '<|constrain|>', '<|channel|>', '<|start|>', '<|end|>'],
    ...['<|message|>', '<|call|>'],
  ],
  end: '<|return|>',
  template: `{% if tools %}<|start|>developer<|message|>{{ tools | tojson }}<|end|>{% endif -%}
{% for message in messages %}{% if message.role == 'assistant' %}{% if message.thinking -%}
<|start|>assistant<|channel|>analysis<|message|>{{ message.thinking }}<|end|>{% endif %}{% for call in message.tool_calls or [] -%}
<|start|>assistant<|channel|>commentary to=functions.{{ call.function.name }} <|constrain|>json<|message|>{{ call.function.arguments | tojson }}<|call|>
{%- else %}<|start|>assistant<|channel|>final<|message|>{{ message.content }}<|end|>{% endfor -%}
{% elif message.role == 'tool' %}<|start|>functions.{{ message.name }} to=assistant<|channel|>commentary<|message|>{{ message.content }}<|end|>
{%- else %}<|start|>{{ message.role }}<|message|>{{ message.content }}<|end|>{% endif %}{% endfor -%}
{% if add_generation_prompt %}<|start|>assistant{% endif %}`,
};

export const families = { qwen3, mistral, harmony };
export type FamilyName = keyof typeof families;

/** A gateway with a model of this family. */
export async function startFamily(name: FamilyName) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const file = path.join(directory.path, `${name}.gguf`);
  const shape = { layers: 1, width: 64, heads: 2, hidden: 64, context: 4_096, weights: 'F16' } as const;
  await writeFile(file, randomModel({ ...shape, seed: name, name, family: families[name] }));
  const gateway = stack.use(await startHarness({ STRATA_MODEL: file, STRATA_MODEL_SLOTS: '1' }));
  return Object.assign(stack.move(), { gateway, ...gateway });
}
