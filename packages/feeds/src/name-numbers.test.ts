// Names and their numbers against a plain map, while names come and go.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { NameNumbers } from './name-numbers.ts';

it('a name keeps its number until it is dropped, whoever else comes and goes', () => {
  const step = fc.record({ isAdded: fc.boolean(), names: fc.array(fc.nat(6_000), { maxLength: 1_500 }) });
  holds(30, [fc.array(step, { minLength: 5, maxLength: 15 })], (steps) => {
    const numbers = new NameNumbers();
    const plain = new Map<string, number>();
    for (const { isAdded, names } of steps) {
      const chosen = [...new Set(names.map((name) => `n${name}.com`))];
      if (isAdded) for (const name of chosen) plain.set(name, numbers.find(name) ?? numbers.add(name));
      else {
        const dropped = chosen.filter((name) => plain.has(name));
        numbers.drop(dropped.map((name) => plain.get(name) as number));
        for (const name of dropped) plain.delete(name);
      }
      for (let i = 0; i <= 6_000; i += 1) assert.equal(numbers.find(`n${i}.com`), plain.get(`n${i}.com`));
      assert.equal(numbers.size, plain.size);
      assert.equal(new Set(plain.values()).size, plain.size);
    }
  });
});
