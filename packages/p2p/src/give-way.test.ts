import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whoGivesWay } from './give-way.ts';
import { CONNECTIONS } from './limits.ts';

const place = (host: string, more: { isKept?: boolean; isBusy?: boolean; openedAtMs?: number } = {}) => {
  return { host, isKept: false, isBusy: false, openedAtMs: 0, ...more };
};
const many = (host: string, count: number, more = {}) =>
  Array.from({ length: count }, (_, at) => place(host, { openedAtMs: at, ...more }));

describe('who gives way', () => {
  it('is the youngest idle one of the address that has most', () => {
    const crowd = many('crowd', 5);
    const places = [...many('few', 3), ...crowd, place('one')];
    assert.equal(whoGivesWay(places, 'newcomer', 0), crowd[4]);
    assert.equal(whoGivesWay(places, 'crowd', 0), undefined, 'a crowd does not push others out');
  });

  it('is nobody whom this host dialled or was told to join, nor who works', () => {
    assert.equal(whoGivesWay(many('crowd', 9, { isKept: true }), 'newcomer', 0), undefined);
    assert.equal(whoGivesWay(many('crowd', 9, { isBusy: true }), 'newcomer', 0), undefined);
    const beyond = many('crowd', CONNECTIONS.mostBusyPerHostWhenFull + 1, { isBusy: true });
    assert.equal(whoGivesWay(beyond, 'newcomer', 0), beyond.at(-1));
  });

  it('is who did nothing for long, where nobody has more than others', () => {
    const places = [place('a', { openedAtMs: 90_000 }), place('b'), place('c', { isBusy: true })];
    assert.equal(whoGivesWay(places, 'newcomer', 100_000), places[1]);
    assert.equal(whoGivesWay([...places, place('crowd'), place('crowd')], 'crowd', 100_000)?.host, 'crowd');
    assert.equal(whoGivesWay(places, 'newcomer', 10_000), undefined);
  });
});
