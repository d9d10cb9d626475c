// Imported first by an engine process that uses the CPU only. node-llama-cpp (3.22, `testBindingBinary`) loads its binary in one more
// process before its own, in case the system cannot run it: half of the time and CPU that an engine takes to start. An engine process
// may die of its binary: its parent reports that, and there is no other binary to fall back to, as there is for a GPU.
import { registerHooks } from 'node:module';

const tested = '/node-llama-cpp/dist/bindings/utils/testBindingBinary.js';
const source = 'export const testBindingBinary = async () => true;';

registerHooks({
  load: (url, context, next) =>
    url.endsWith(tested) ? { format: 'module', source, shortCircuit: true } : next(url, context),
});
