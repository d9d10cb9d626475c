// Dates as Python's `strftime` writes them in the C locale.

const two = (value: number) => String(value).padStart(2, '0');
const named = (date: Date, options: Intl.DateTimeFormatOptions) => date.toLocaleDateString('en-US', options);

const directives: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getFullYear()),
  y: (date) => two(date.getFullYear() % 100),
  m: (date) => two(date.getMonth() + 1),
  d: (date) => two(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2),
  B: (date) => named(date, { month: 'long' }),
  b: (date) => named(date, { month: 'short' }),
  A: (date) => named(date, { weekday: 'long' }),
  a: (date) => named(date, { weekday: 'short' }),
  H: (date) => two(date.getHours()),
  I: (date) => two(date.getHours() % 12 || 12),
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  M: (date) => two(date.getMinutes()),
  S: (date) => two(date.getSeconds()),
  F: (date) => strftime(date, '%Y-%m-%d'),
  T: (date) => strftime(date, '%H:%M:%S'),
  '%': () => '%',
};

/** In local time; `%-d` is `%d` without padding. A directive that is not known stays as it is. */
export function strftime(date: Date, format: string): string {
  return format.replace(/%(-?)(\S)/g, (given, dash: string, name: string) => {
    const text = directives[name]?.(date);
    if (text === undefined) return given;
    return dash === '' ? text : text.replace(/^[0 ](?=.)/, '');
  });
}
