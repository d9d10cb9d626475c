// Models of three families with the vocabulary and the template of each, and random weights: what they write is
// random, but in real tokens of llama.cpp. Held by grammars it becomes calls and JSON.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { startLlamaEngine } from '@strata/engine';
import { type ModelFamily, randomModel } from '@strata/testnet';
import { startHarness } from '../../services/gateway/src/test/harness.ts';
import { shared } from './shared.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const words = (text: string) => text.split(' ');
const FAMILIES: Readonly<Record<string, Omit<ModelFamily, 'template'>>> = {
  qwen3: {
    ...{ controls: words('<|im_start|> <|im_end|> <|endoftext|>'), end: '<|im_end|>' },
    likely: words('<|im_end|> </think> <tool_call>'),
    added: words('<tool_call> </tool_call> <tool_response> </tool_response> <think> </think>'),
  },
  mistral: {
    controls: words(
      '<s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CALLS] [ARGS] [THINK] [/THINK]',
    ),
    ...{ end: '</s>', likely: words('</s> [/THINK] [THINK] [TOOL_CALLS]') },
  },
  harmony: {
    controls: words('<|return|> <|constrain|> <|channel|> <|start|> <|end|> <|message|> <|call|>'),
    ...{ end: '<|return|>', likely: words('<|return|> <|end|> <|channel|>') },
  },
};

const gateways = Object.entries(FAMILIES).map(([name, family]) => ({
  name,
  start: shared(async () => {
    const template = readFileSync(path.join(import.meta.dirname, 'families', `${name}.jinja`), 'utf8');
    const directory = await temporaryDirectory();
    const file = path.join(directory.path, `${name}.gguf`);
    const shape = { layers: 1, width: 64, heads: 2, hidden: 64, context: 8_192, weights: 'F16' } as const;
    await writeFile(file, randomModel({ ...shape, seed: name, name, family: { ...family, template } }));
    const engine = await shared(() => startLlamaEngine({ file, slots: 1, threads: 1, gpu: false }))();
    const [generate, seeds] = [engine.generate.bind(engine), { next: 0 }];
    engine.generate = ({ sampling, ...job }, ...given) =>
      generate({ ...job, sampling: { ...sampling, seed: seeds.next++ } }, ...given);
    return Object.assign(await startHarness({ STRATA_MODEL: '' }, { engines: { [name]: engine } }), { seeds });
  }),
}));

export interface FamilyClient {
  readonly model: string;
  readonly apiKey: string;
  readonly baseURL: string;
}

const CELLS = ['tools', 'schema', 'reasoning', 'streaming'] as const;
/** Marks what a client was able to do. */
type Passed = (cell: 'tools' | 'schema' | 'streaming') => void;
/** What a client that runs tools, JSON and reasoning found in answers: undefined where a model did not reason. */
type Trial = (options: FamilyClient, passed: Passed) => Promise<string | undefined>;

/**
 * Runs a trial for each family until the model reasoned in it: by chance, often not at once, but the same in every run.
 * Each is a row of the table that the diagnostics show.
 */
export function eachFamily(name: string, trial: Trial): void {
  for (const { name: model, start } of gateways)
    it(`${name} with a model of ${model}`, async (t) => {
      const { base, key: apiKey, seeds } = await start();
      seeds.next = 0;
      const passed = new Set<string>();
      let thoughts: string | undefined;
      try {
        for (let i = 0; i < 60 && !thoughts; i += 1)
          thoughts = await trial({ model, apiKey, baseURL: `${base}/v1` }, (cell) => passed.add(cell));
        if (thoughts) passed.add('reasoning');
      } finally {
        t.diagnostic(
          `${name}, ${model}: ${CELLS.map((cell) => `${cell} ${passed.has(cell) ? 'yes' : 'NO'}`).join(', ')}`,
        );
      }
      assert.deepEqual([...passed].sort(), [...CELLS].sort());
    });
}
