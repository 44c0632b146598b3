/** True for anything but a plain path. */
export const isPattern = (file: string): boolean => /[*?[\]{}!@+()]/.test(file);
