/** Numbers as text: written with a minus, "−", and read back. */

/** A number as text, typed or drawn: decimals with point or comma, a fraction, inf. @param {unknown} text */
export function numberOf(text) {
  const plain = String(text).trim().toLowerCase().replaceAll("−", "-").replace(",", ".");
  const [over, under] = plain.replace(/inf(inity)?$|∞$/, "Infinity").split("/");
  return plain === "" ? NaN : under === undefined ? Number(over) : Number(over) / Number(under);
}

/** With a minus in place of each hyphen. @param {unknown} text */
export const withMinus = (text) => String(text).replaceAll("-", "−");

/** A negative number in parentheses, as inside of a sum or product. @param {unknown} text */
export const bracketed = (text) => (/^−|^all | to /.test(String(text)) ? `(${text})` : String(text));
