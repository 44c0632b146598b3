const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const two = (value: number): string => String(value).padStart(2, "0");

/** Local time of day: "14:31" */
export function clock(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** "14:31:07" */
export function clockSeconds(at: number): string {
  return `${clock(at)}:${two(new Date(at).getSeconds())}`;
}

/** "14:31" for today and the last night, otherwise "Nov 12, 14:31", with the year if it differs. */
export function moment(at: number, now: number): string {
  const sameDay = new Date(at).toDateString() === new Date(now).toDateString();
  if (sameDay || Math.abs(now - at) < 12 * hour) return clock(at);
  return `${calendarDay(at, now)}, ${clock(at)}`;
}

export function calendarDay(at: number, now: number): string {
  const date = new Date(at);
  const year = date.getFullYear() === new Date(now).getFullYear() ? "" : ` ${date.getFullYear()}`;
  return `${months[date.getMonth()]} ${date.getDate()}${year}`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** One unit, rounded down: "22 s", "12 m", "1 h", "3 d" */
export function age(milliseconds: number): string {
  const past = Math.max(0, milliseconds);
  if (past < minute) return `${Math.floor(past / second)} s`;
  if (past < hour) return `${Math.floor(past / minute)} m`;
  if (past < 2 * day) return `${Math.floor(past / hour)} h`;
  return `${Math.floor(past / day)} d`;
}

/** "0.21 s", "14.2 s", "26 s", "4 m 02 s", "2 h 05 m", "3 d 4 h" */
export function duration(milliseconds: number): string {
  const took = Math.max(0, milliseconds);
  if (took < second) return `${(took / second).toFixed(2)} s`;
  if (took < 19.95 * second) return `${(took / second).toFixed(1)} s`;
  const seconds = Math.round(took / second);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 2 * 24 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
  return `${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`;
}

/** Time until a moment: "0:41", "12:08", "1:02:08"; never below zero. */
export function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / second));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = two(seconds % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** "in 3 s", "in 12 m", "now" */
export function soon(milliseconds: number): string {
  if (milliseconds <= 0) return "now";
  return milliseconds < minute ? `in ${Math.ceil(milliseconds / second)} s` : `in ${age(milliseconds)}`;
}

/** A time that may be missing or damaged, as a list of zero or one. */
export function parseTime(at: string | null | undefined): number[] {
  const parsed = at == null ? Number.NaN : Date.parse(at);
  return Number.isNaN(parsed) ? [] : [parsed];
}
