// Names and their numbers against a plain map, while names come and go.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { NameNumbers } from './name-numbers.ts';

it('a name keeps its number until it is dropped, whoever else comes and goes', () => {
  const steps = fc.array(fc.record({ isAdded: fc.boolean(), names: fc.array(fc.nat(6_000), { maxLength: 1_500 }) }), {
    minLength: 5,
    maxLength: 15,
  });
  fc.assert(
    fc.property(steps, (given) => {
      const numbers = new NameNumbers();
      const plain = new Map<string, number>();
      for (const { isAdded, names } of given) {
        const chosen = [...new Set(names.map((name) => `n${name}.com`))];
        if (isAdded) for (const name of chosen) plain.set(name, numbers.find(name) ?? numbers.add(name));
        else {
          const dropped = chosen.filter((name) => plain.has(name));
          numbers.drop(dropped.map((name) => plain.get(name) as number));
          for (const name of dropped) plain.delete(name);
        }
        for (let i = 0; i <= 6_000; i += 1) {
          const name = `n${i}.com`;
          assert.equal(numbers.find(name), plain.get(name));
        }
        assert.equal(numbers.size, plain.size);
        assert.equal(new Set(plain.values()).size, plain.size);
      }
    }),
    { numRuns: 30 },
  );
});
