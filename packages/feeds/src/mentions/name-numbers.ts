// Names and the numbers that stand for them. A Map would take as much room again as the names themselves.

/** Slots in use, at most, of all. */
const MAX_FULL = 0.6;
const FREE = -1;

export class NameNumbers {
  readonly #names: string[] = [];
  /** Numbers whose names were dropped. */
  readonly #dropped: number[] = [];
  /** By hash of the name: its number. */
  #slots = new Int32Array(1 << 12).fill(FREE);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** By number; what was dropped is empty. */
  get names(): readonly string[] {
    return this.#names;
  }

  find(name: string): number | undefined {
    const number = this.#slots[this.#slotOf(name)] as number;
    return number === FREE ? undefined : number;
  }

  /** Gives a name that has none the lowest number that is free, or one that was. */
  add(name: string): number {
    const number = this.#dropped.pop() ?? this.#names.length;
    this.#names[number] = name;
    this.#size += 1;
    if (this.#size > this.#slots.length * MAX_FULL) this.#file(this.#slots.length * 2);
    else this.#slots[this.#slotOf(name)] = number;
    return number;
  }

  /** Drops the names of some numbers; these are given anew. */
  drop(numbers: readonly number[]): void {
    // To file all anew pays when many go.
    const isFew = numbers.length < this.#size / 4;
    for (const number of numbers) {
      if (isFew) this.#close(this.#slotOf(this.#names[number] as string));
      this.#names[number] = '';
      this.#dropped.push(number);
    }
    this.#size -= numbers.length;
    if (!isFew) this.#file(this.#slots.length);
  }

  /** Frees a slot: what was put behind it for want of room moves up, so that no search ends before it. */
  #close(freed: number): void {
    const mask = this.#slots.length - 1;
    let hole = freed;
    for (let slot = (hole + 1) & mask; this.#slots[slot] !== FREE; slot = (slot + 1) & mask) {
      const number = this.#slots[slot] as number;
      const wanted = hashOf(this.#names[number] as string) & mask;
      const isBehindHole = ((slot - wanted) & mask) >= ((slot - hole) & mask);
      if (!isBehindHole) continue;
      this.#slots[hole] = number;
      hole = slot;
    }
    this.#slots[hole] = FREE;
  }

  #file(length: number): void {
    this.#slots = new Int32Array(length).fill(FREE);
    for (let number = 0; number < this.#names.length; number += 1) {
      const name = this.#names[number] as string;
      if (name !== '') this.#slots[this.#slotOf(name)] = number;
    }
  }

  /** Where the name's number is, or would be. */
  #slotOf(name: string): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(name) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot] as number;
      if (number === FREE || this.#names[number] === name) return slot;
    }
  }
}

/** FNV-1a, with Murmur3's last step: its low bits alone are too much alike for names that differ at their ends. */
function hashOf(name: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x0100_0193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  return hash ^ (hash >>> 13);
}
