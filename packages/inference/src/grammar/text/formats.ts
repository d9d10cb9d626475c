// The formats of JSON Schema as regular expressions. Each allows only valid texts; where a format has unusual forms
// (comments in e-mail addresses, leap seconds with offsets of odd minutes), these are left out.
// json-schema.org/draft/2020-12/json-schema-validation#section-7.3

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = `(?:${OCTET}\\.){3}${OCTET}`;
const LEAP_YEAR = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const DATE = `(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|${LEAP_YEAR}-02-29)`;
const HOUR = '(?:[01]\\d|2[0-3])';
const TIME = `(?:${HOUR}:[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:[Zz]|[+-]${HOUR}:[0-5]\\d)|(?:23:59:60(?:\\.\\d+)?[Zz]|${leapSeconds()}))`;
const PART = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** At most 253 characters: three labels of any length, or fifteen of at most fifteen characters. */
const SHORT_PART = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,13}[A-Za-z0-9])?';
const HOST = `(?:${PART}(?:\\.${PART}){0,2}|${SHORT_PART}(?:\\.${SHORT_PART}){0,14})`;
const EMAIL_CHAR = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]";
const EMAIL_PART = `${EMAIL_CHAR}+`;
const MAIL_PART = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const EMAIL = `${EMAIL_PART}(?:\\.${EMAIL_PART})*@(?:${MAIL_PART}\\.)+${MAIL_PART}`;
/** A local part of at most 64 characters, and at most four labels of at most 45: 248 in all. */
const SHORT_LOCAL = `(?:${EMAIL_CHAR}{1,64}|${EMAIL_CHAR}{1,15}(?:\\.${EMAIL_CHAR}{1,15}){1,3})`;
const SHORT_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,43}[A-Za-z0-9])?';
const SHORT_EMAIL = `${SHORT_LOCAL}@(?:${SHORT_LABEL}\\.){1,3}${SHORT_LABEL}`;
const HEX16 = '[0-9A-Fa-f]{1,4}';
const ESCAPE = '%[0-9A-Fa-f]{2}';
const UUID = '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}';

/** A leap second is 23:59:60 in UTC; offsets of full and half hours. */
function leapSeconds(): string {
  const two = (value: number) => String((value + 24) % 24).padStart(2, '0');
  const forms = Array.from({ length: 24 }, (_, hour) => {
    const full = `59:60(?:\\.\\d+)?(?:\\+${two(hour + 1)}|-${two(23 - hour)}):00`;
    return `${two(hour)}:(?:${full}|29:60(?:\\.\\d+)?(?:\\+${two(hour)}|-${two(23 - hour)}):30)`;
  });
  return forms.join('|');
}

function ipv6(): string {
  const last = `(?:${HEX16}:${HEX16}|${IPV4})`;
  const forms = [`(?:${HEX16}:){6}${last}`];
  // `::` replaces at least one group: `before` groups precede it, at most `after` groups follow.
  for (let before = 0; before <= 7; before += 1) {
    const head = before === 0 ? '' : `(?:${HEX16}:){${before - 1}}${HEX16}`;
    const after = 7 - before;
    const tails = ['', ...(after >= 1 ? [`(?:${HEX16}:){0,${after - 1}}${HEX16}`] : [])];
    if (after >= 2) tails.push(`(?:${HEX16}:){0,${after - 2}}${IPV4}`);
    forms.push(`${head}::(?:${tails.join('|')})`);
  }
  return `(?:${forms.join('|')})`;
}

const URI_CHAR = `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|${ESCAPE})`;
const URI_NAME = `(?:[A-Za-z0-9._~!$&'()*+,;=-]|${ESCAPE})*`;
const URI_USER = `(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|${ESCAPE})*@)?`;
const URI_AUTHORITY = `//${URI_USER}(?:\\[${ipv6()}\\]|${URI_NAME})(?::\\d*)?(?:/${URI_CHAR}*)*`;
const URI_ABSOLUTE = `/(?:${URI_CHAR}+(?:/${URI_CHAR}*)*)?`;
const URI_TAIL = `(?:\\?(?:${URI_CHAR}|[/?])*)?(?:#(?:${URI_CHAR}|[/?])*)?`;
/** RFC 3986; a URI has a host or a path. */
const URI = `[A-Za-z][A-Za-z0-9+.-]*:(?:${URI_AUTHORITY}|${URI_ABSOLUTE}|${URI_CHAR}+(?:/${URI_CHAR}*)*)${URI_TAIL}`;
const RELATIVE = `(?:${URI_AUTHORITY}|${URI_ABSOLUTE}|(?:[A-Za-z0-9._~!$&'()*+,;=@-]|${ESCAPE})+(?:/${URI_CHAR}*)*)?${URI_TAIL}`;
/** One character or class of a regular expression without groups. */
const REGEX_PART =
  '(?:[^\\\\()\\[\\]{}*+?|^$/]|\\\\[dDwWsSnrtfv\\\\()\\[\\]{}*+?|^$./]|\\[\\^?[A-Za-z0-9_ ]+\\])(?:[*+?]|\\{\\d\\})?';

const FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  'date-time': `${DATE}[Tt]${TIME}`,
  duration:
    'P(?:(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)(?:T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))?|T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)|\\d+W)',
  email: EMAIL,
  'short-email': SHORT_EMAIL,
  hostname: HOST,
  ipv4: IPV4,
  ipv6: ipv6(),
  uri: URI,
  'uri-reference': `(?:${URI}|${RELATIVE})`,
  'uri-template': `(?:[A-Za-z0-9._~!$&()*+,;=:@/?#\\[\\]-]|${ESCAPE}|\\{[+#./;?&]?[A-Za-z0-9_]+(?::[1-9]\\d{0,3}|\\*)?(?:,[A-Za-z0-9_]+(?::[1-9]\\d{0,3}|\\*)?)*\\})*`,
  url: `(?:https?|ftp)://(?:[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\\.)+[A-Za-z]{2,}(?::\\d{2,5})?(?:/[^\\s]*)?`,
  byte: '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?',
  'iso-time': TIME,
  'iso-date-time': `${DATE}T${TIME}`,
  uuid: UUID,
  'json-pointer': '(?:/(?:[^~/]|~0|~1)*)*',
  'relative-json-pointer': '(?:0|[1-9]\\d*)(?:#|(?:/(?:[^~/]|~0|~1)*)*)',
  regex: `(?:\\^?(?:${REGEX_PART}|\\((?:\\?:)?(?:${REGEX_PART})+(?:\\|(?:${REGEX_PART})+)*\\)[*+?]?)*\\$?)`,
};

/** The pattern of a format; undefined for a format that is an annotation. */
export function formatPattern(format: string): string | undefined {
  return Object.hasOwn(FORMATS, format) ? `^(?:${FORMATS[format]})$` : undefined;
}
