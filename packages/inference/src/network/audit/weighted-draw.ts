// Weighted random draw: built in linear time, then each draw is a binary search.

export interface WeightedDraw {
  /** The index of a weight; -1 if all weights are 0. `random` is from 0 to below 1. */
  draw(random: number): number;
}

export function weightedDraw(weights: readonly number[]): WeightedDraw {
  const sums = new Float64Array(weights.length);
  let total = 0;
  for (const [i, weight] of weights.entries()) {
    total += weight;
    sums[i] = total;
  }
  return {
    draw(random) {
      if (total === 0) return -1;
      const wanted = random * total;
      let low = 0;
      let high = sums.length - 1;
      // The first sum above `wanted`: a weight of 0 is never drawn.
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((sums[middle] as number) > wanted) high = middle;
        else low = middle + 1;
      }
      return low;
    },
  };
}
