// Maps the days of the internet to clock time: a feed's items of a day are dated within it.

const DAY_MS = 86_400_000;

interface CalendarOptions {
  readonly now: () => Date;
  /** The internet's day, starting at 0. */
  readonly today: () => number;
}

/** Milliseconds since the epoch; both ends included. */
interface DaySpan {
  readonly from: number;
  readonly to: number;
}

export interface Calendar {
  /** The internet's day; fixes its date on the first call. */
  today(): number;
  /**
   * Part of one calendar day (UTC), constant once fixed; spans neither overlap nor lie in the future. Days before 0
   * are complete.
   */
  spanOf(day: number): DaySpan;
}

/**
 * A day gets its date on the first query: the clock is often set only after `advance`, and days may pass faster than
 * the clock. Days without a query are spread evenly between the queried ones.
 */
export function createCalendar({ now, today }: CalendarOptions): Calendar {
  const createdAt = now().getTime();
  const datedAt: number[] = [];
  const dateAll = () => {
    const last = datedAt.length - 1;
    const current = today();
    if (current <= last) return current;
    const from = { day: Math.max(last, 0), at: datedAt[last] ?? createdAt };
    const to = Math.max(now().getTime(), from.at);
    for (let day = last + 1; day <= current; day += 1) {
      const share = current === from.day ? 1 : (day - from.day) / (current - from.day);
      datedAt.push(from.at + Math.floor((to - from.at) * share));
    }
    return current;
  };
  return {
    today: dateAll,
    spanOf(day) {
      if (day > dateAll()) throw new RangeError(`day ${day} is in the future`);
      const first = startOf(datedAt[0] ?? createdAt);
      if (day < 0) return { from: first + day * DAY_MS, to: first + (day + 1) * DAY_MS - 1 };
      const to = datedAt[day] ?? createdAt;
      return { from: Math.max(startOf(to), datedAt[day - 1] ?? 0), to };
    },
  };
}

const startOf = (at: number) => Math.floor(at / DAY_MS) * DAY_MS;
