// Addresses of the second world, and the networks that announce them.
import type { Network } from './service.ts';

/** An address of the network; the same key has the same one. */
export function addressIn({ prefix }: Network, key: string): string {
  const [base = '', bits = '32'] = prefix.split('/');
  const size = 2 ** (32 - Number(bits));
  return textOf(numberOf(base) + 2 + (hashOf(key) % (size - 4)));
}

/** The most specific network that contains the address. */
export function networkAt(networks: Iterable<Network>, address: string): Network | undefined {
  const number = numberOf(address);
  const inside = [...networks].filter(({ prefix }) => {
    const [base = '', bits = '32'] = prefix.split('/');
    return number >= numberOf(base) && number < numberOf(base) + 2 ** (32 - Number(bits));
  });
  return inside.sort((a, b) => Number(b.prefix.split('/')[1]) - Number(a.prefix.split('/')[1]))[0];
}

const numberOf = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

const textOf = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');

function hashOf(text: string): number {
  let hash = 0x811c_9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x0100_0193);
  return hash >>> 0;
}
