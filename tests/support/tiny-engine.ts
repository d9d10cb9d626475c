// The tiny chat model in llama.cpp, loaded once for all test files of one process.
import { startLlamaEngine } from '@strata/engine';
import { tinyChatModel } from '@strata/testnet';
import { shared } from './shared.ts';

/** Restarts of the shared engine's process, in order. */
export const restarts: { readonly kind: string; readonly detail: string; readonly isByGrammar?: boolean }[] = [];
export const oneSlot = { file: tinyChatModel, slots: 1, threads: 1, gpu: false } as const;

/** With two slots and one thread. */
export const tinyEngine = shared(() =>
  startLlamaEngine({ ...oneSlot, slots: 2 }, { onRestart: (event) => restarts.push(event) }),
);
