
T
)symbolic_gradient_of_an_op_v2_unknown/x/0Placeholder*
dtype0*
shape:
T
)symbolic_gradient_of_an_op_v2_unknown/x/1Placeholder*
dtype0*
shape:
g
,symbolic_gradient_of_an_op_v2_unknown/of/SinSin)symbolic_gradient_of_an_op_v2_unknown/x/0*
T0
ˆ
9symbolic_gradient_of_an_op_v2_unknown/of/SymbolicGradientSymbolicGradient)symbolic_gradient_of_an_op_v2_unknown/x/0)symbolic_gradient_of_an_op_v2_unknown/x/1,symbolic_gradient_of_an_op_v2_unknown/of/Sin*
Tin
2*
Tout
2*
fR
Mul
T0
y
)symbolic_gradient_of_an_op_v2_unknown/y/0Identity9symbolic_gradient_of_an_op_v2_unknown/of/SymbolicGradient*
T0
{
)symbolic_gradient_of_an_op_v2_unknown/y/1Identity;symbolic_gradient_of_an_op_v2_unknown/of/SymbolicGradient:1*
T0
r
-symbolic_gradient_of_an_op_v2_unknown/value/0Const*
dtype0*-
value$B""è¿[.xÔ¿Ğ?çúß?uÎÔ(~Í¿
r
-symbolic_gradient_of_an_op_v2_unknown/value/1Const*
dtype0*-
value$B""ÀsÄB1æ¿R,uİè?Œ“¨4_Ø?
q
,symbolic_gradient_of_an_op_v2_unknown/flow/0Const*
dtype0*-
value$B""f¶bÙGÜç¿dÂI¤–íí¿x …Â—ÓË¿
q
,symbolic_gradient_of_an_op_v2_unknown/flow/1Const*
dtype0*-
value$B""(”Ç§†JÅ? IÀ„ãF£?Àb&ûšé?
u
0symbolic_gradient_of_an_op_v2_unknown/expected/0Const*
dtype0*-
value$B""Øsê›hÖØ?FT÷$¬â¿@&_™VÜ¿
u
0symbolic_gradient_of_an_op_v2_unknown/expected/1Const*
dtype0*-
value$B""=µÒÑÎ?»:W#®Ü¿CÚ8·…k©?
s
.symbolic_gradient_of_an_op_v2_unknown/second/0Const*
dtype0*-
value$B""Ì0ˆÆV‚Ï¿HfwvJÛ¿â¨Ê§ô?
s
.symbolic_gradient_of_an_op_v2_unknown/second/1Const*
dtype0*-
value$B""ƒ»Fƒ¦æ¿)µÂ¥ÑDê¿İ—ªUË¿
t
/symbolic_gradient_of_an_op_v2_unknown/forward/0Const*
dtype0*-
value$B""CØ©3üèË?7å$²×?Ã*Ñ¨C¶¿
t
/symbolic_gradient_of_an_op_v2_unknown/forward/1Const*
dtype0*-
value$B""Pœ'ìC¾¹?æˆ6ŠŒ¥Î?¼Ö½2ñª?"ª