export function isLeapYear(year) {
  return year % 4 === 0;
}

/** `month`: 1 is January. */
export function daysInMonth(year, month) {
  if (!Number.isInteger(month) || month < 1 || month > 12) throw new RangeError(`${month} is not a month`);
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
