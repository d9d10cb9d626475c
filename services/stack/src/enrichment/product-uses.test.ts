import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DomainSet } from '@strata/analytics';
import fc from 'fast-check';
import { buildsShown, type SeenService, unionOf } from './product-uses.ts';

const membersOf = (set: DomainSet): number[] => {
  const members: number[] = [];
  set.each((member) => members.push(member));
  return members;
};

describe('joined sets', () => {
  it('hold what any of them holds, and leave each as it was', () => {
    const members = fc.uniqueArray(fc.nat({ max: 2_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.array(members, { maxLength: 12 }), (lists) => {
        const sets = lists.map((list) => DomainSet.of(list));
        const expected = [...new Set(lists.flat())].sort((a, b) => a - b);
        assert.deepEqual(membersOf(unionOf(sets, 2_001)), expected);
        for (const [i, set] of sets.entries()) assert.equal(set.size, lists[i]?.length);
      }),
    );
  });
});

describe('what a domain shows of a product', () => {
  const service = (confidence: SeenService['confidence'], version: string | null, platform: string | null = null) => {
    return { provider: 'php', confidence, version, platform };
  };
  const shown = (...services: SeenService[]) => buildsShown(services).get('php');

  it('is the surest version, the first of several', () => {
    assert.deepEqual(shown(service('medium', '8.1'), service('high', '8.2')), { version: '8.2', platform: null });
    assert.deepEqual(shown(service('high', '8.1'), service('high', '8.2')), { version: '8.1', platform: null });
    assert.deepEqual(shown(service('high', null), service('medium', '8.2', 'win64')), {
      version: '8.2',
      platform: 'win64',
    });
  });

  it('has no platform without a version, and is nothing where it is hardly seen', () => {
    assert.deepEqual(shown(service('high', null, 'win64')), { version: null, platform: null });
    assert.deepEqual(shown(service('high', '')), { version: null, platform: null });
    assert.equal(shown(service('low', '8.1')), undefined);
    assert.deepEqual(shown(service('low', '8.1'), service('high', null)), { version: null, platform: null });
  });
});
