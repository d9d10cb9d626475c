import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openAdmission } from '../limits/admission.ts';
import type { Backend } from './backend.ts';
import { Models, type ServedModel } from './models.ts';

const admission = openAdmission({ slots: 1, queue: 0 });
const model = (id: string): ServedModel => ({ id, backend: {} as Backend, created: 0, admission });

it('models are listed in order; requests for removed models are asked to retry, unknown models are not', () => {
  const models = new Models([model('a'), model('b')]);
  models.remove('b');
  models.remove('never');
  const overloaded = { name: 'CompletionError', kind: 'overloaded', retryAfterMs: 5_000 };
  assert.throws(() => models.get('b'), { ...overloaded, message: /'b' at present; try again/ });
  assert.throws(() => models.get('never'), { kind: 'model_not_found', message: /Available models: 'a'/ });
  models.add(model('b'));
  assert.equal(models.get('b').id, 'b');
  const ids = models.list().map(({ id }) => id);
  assert.deepEqual(ids, ['a', 'b']);
  assert.throws(() => models.add(model('a')), /two models with the same id: a/);
});

it('models that are pinned, or were served before a restart, are known before a worker offers them', () => {
  const models = new Models([model('a')], { pinned: ['p'] });
  models.expect(['a', 'b']);
  for (const id of ['p', 'b']) assert.throws(() => models.get(id), { kind: 'overloaded', retryAfterMs: 5_000 });
  assert.equal(models.get('a').id, 'a');
});

it('models remember a bounded number of removed names', () => {
  const models = new Models([]);
  for (let i = 0; i < 1_100; i += 1) {
    models.add(model(`m${i}`));
    models.remove(`m${i}`);
  }
  assert.throws(() => models.get('m0'), { kind: 'model_not_found', message: /No model is available/ });
  assert.throws(() => models.get('m1099'), { kind: 'overloaded', message: /m1099/ });
});
