// Loaded with `--import` in NODE_OPTIONS: replaces one piece of one source file as it is loaded, in a process and those it starts.
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutants.ts';

const mutant = JSON.parse(process.env.STRATA_MUTANT ?? 'null') as (Mutant & { readonly path: string }) | null;

if (mutant) {
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith('file:') || fileURLToPath(url) !== mutant.path) return nextLoad(url, context);
      const text = stripTypeScriptTypes(readFileSync(mutant.path, 'utf8'));
      const source = text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end);
      return { format: 'module', source, shortCircuit: true };
    },
  });
}
