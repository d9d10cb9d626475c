// Pulls one model in a separate process, and prints the result as one line: `{ path }` or `{ code, message }`.
import type { ModelStoreError } from '../model-store/error.ts';
import { type ModelStoreOptions, resolveModel } from '../model-store/resolve-model.ts';

const [reference = '', options = '{}'] = process.argv.slice(2);
const outcome = await resolveModel(reference, JSON.parse(options) as ModelStoreOptions).then(
  ({ path }) => ({ path }),
  ({ code, message }: ModelStoreError) => ({ code, message }),
);
console.log(JSON.stringify(outcome));
